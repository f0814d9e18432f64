/** The events of the DaemonSet controller about the set; those of pods come from pod control. */
import type { DaemonSetEvent } from './actions.ts';
import type { DaemonPod } from './pod.ts';

/** The selector is empty. */
export function selectingAll(): DaemonSetEvent {
  return {
    type: 'Warning',
    reason: 'SelectingAll',
    message: 'This daemon set is selecting all pods. A non-empty selector is required.',
  };
}

/** A pod failed and is about to be deleted. */
export function failedDaemonPod({ record, node }: DaemonPod): DaemonSetEvent {
  return {
    type: 'Warning',
    reason: 'FailedDaemonPod',
    message: `Found failed daemon pod ${record.key} on node ${node}, will try to kill it`,
  };
}

/** A pod ended well, which daemon pods never should, and is about to be deleted. */
export function succeededDaemonPod({ record, node }: DaemonPod): DaemonSetEvent {
  return {
    type: 'Normal',
    reason: 'SucceededDaemonPod',
    message: `Found succeeded daemon pod ${record.key} on node ${node}, will try to delete it`,
  };
}
