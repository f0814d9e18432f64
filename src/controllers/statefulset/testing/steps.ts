/** Reading the steps of a sync in tests. */
import type { StatefulSetStatus } from '../../../api/types/index.ts';
import type { Action } from '../actions.ts';

/** Steps that change something as short words: "createPod web-0", "updateStatus". */
export function writesOf(actions: readonly Action[]): string[] {
  return actions.flatMap((action) => {
    switch (action.kind) {
      case 'createPod':
        return `createPod ${action.pod.name}`;
      case 'deletePod':
        return `deletePod ${action.record.name}`;
      case 'updatePod':
        return `updatePod ${action.pod.metadata.name}`;
      case 'createClaim':
      case 'updateClaim':
        return `${action.kind} ${action.claim.metadata.name}`;
      case 'createRevision':
        return `createRevision ${action.revision.revision}`;
      case 'renumberRevision':
        return `renumberRevision ${action.revision.metadata.name} to ${action.to}`;
      case 'deleteRevision':
        return `deleteRevision ${action.revision.metadata.name}`;
      case 'updateStatus':
        return action.kind;
      default:
        return [];
    }
  });
}

/** Writes to pods and claims only. */
export function podWritesOf(actions: readonly Action[]): string[] {
  return writesOf(actions).filter((write) => /Pod|Claim/.test(write));
}

/** Events as "Reason: message". */
export function eventsOf(actions: readonly Action[]): string[] {
  return actions.flatMap((action) =>
    action.kind === 'event' ? [`${action.event.reason}: ${action.event.message}`] : [],
  );
}

/** The status that was written last. */
export function statusOf(actions: readonly Action[]): StatefulSetStatus | undefined {
  const last = actions.findLast((action) => action.kind === 'updateStatus');
  return last?.kind === 'updateStatus' ? last.status : undefined;
}
