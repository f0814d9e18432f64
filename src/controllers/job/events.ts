/** The events of the job controller, one function a reason; pod control has those about pods. */
import type { JobCondition } from '../../api/types/index.ts';
import type { JobEvent } from './actions.ts';

/** No pod may run any more, for now. */
export function suspended(): JobEvent {
  return { type: 'Normal', reason: 'Suspended', message: 'Job suspended' };
}

/** Pods may run again. */
export function resumed(): JobEvent {
  return { type: 'Normal', reason: 'Resumed', message: 'Job resumed' };
}

/** The Job ended well. */
export function completedEvent(): JobEvent {
  return { type: 'Normal', reason: 'Completed', message: 'Job completed' };
}

/** The Job ended well, with more successes than it asked for. */
export function tooManySucceeded(): JobEvent {
  return {
    type: 'Warning',
    reason: 'TooManySucceededPods',
    message: 'Too many succeeded pods running after completion count reached',
  };
}

/** The Job failed: the event says what its condition says. */
export function failedEvent({ reason = '', message = '' }: JobCondition): JobEvent {
  return { type: 'Warning', reason, message };
}

/** Nothing is done for a Job in a mode of a newer API. */
export function unknownCompletionMode(): JobEvent {
  return {
    type: 'Warning',
    reason: 'UnknownCompletionMode',
    message: 'Skipped Job sync because completion mode is unknown',
  };
}
