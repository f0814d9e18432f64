/** Conditions of Jobs. */
import { findCondition } from '../../api/condition.ts';
import { timeText } from '../../api/time.ts';
import type { JobCondition } from '../../api/types/index.ts';

export const COMPLETE = 'Complete';
export const FAILED = 'Failed';
/** Interim: the Job will fail once its pods have ended and are counted. */
export const FAILURE_TARGET = 'FailureTarget';
/** Interim: the Job will be complete once its pods have ended and are counted. */
export const SUCCESS_CRITERIA_MET = 'SuccessCriteriaMet';
export const SUSPENDED = 'Suspended';

/** What a condition says. */
export type ConditionText = Pick<JobCondition, 'type' | 'status' | 'reason' | 'message'>;

/** A condition as of `now` (ms). */
export function newCondition(text: ConditionText, now: number): JobCondition {
  const at = timeText(now);
  return { ...text, lastProbeTime: at, lastTransitionTime: at };
}

/** The condition of this type if it is True. */
export function trueCondition(
  conditions: readonly JobCondition[] | undefined,
  type: string,
): JobCondition | undefined {
  const found = findCondition(conditions, type);
  return found?.status === 'True' ? found : undefined;
}

/**
 * Puts a condition in the place of the one of its type, or at the end; the same list if it says so
 * already, or if it is False and was never there.
 */
export function ensureCondition(
  conditions: readonly JobCondition[],
  text: ConditionText,
  now: number,
): readonly JobCondition[] {
  const at = conditions.findIndex(({ type }) => type === text.type);
  const current = conditions[at];
  if (current === undefined) {
    return text.status === 'False' ? conditions : [...conditions, newCondition(text, now)];
  }
  const { status, reason, message } = current;
  if (status === text.status && reason === text.reason && message === text.message) {
    return conditions;
  }
  return conditions.with(at, newCondition(text, now));
}
