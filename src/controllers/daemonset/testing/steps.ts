/** Reading the steps of a sync in tests. */
import type { DaemonSetStatus } from '../../../api/types/index.ts';
import type { Action } from '../actions.ts';

/** Steps that change something as short words: "create n1", "delete agent-1", "updateStatus". */
export function writesOf(actions: readonly Action[]): string[] {
  return actions.flatMap((action) => {
    switch (action.kind) {
      case 'syncPods':
        return [
          ...action.create.map(({ node }) => `create ${node}`),
          ...action.remove.map(({ pod }) => `delete ${pod.record.name}`),
        ];
      case 'relabelPod':
        return [`relabelPod ${action.pod.record.name}`];
      case 'createRevision':
        return [`createRevision ${action.revision.revision}`];
      case 'patchRevision': {
        const { metadata } = action.revision;
        const what = 'hash' in action.patch ? `hash ${action.patch.hash}` : action.patch.revision;
        return [`patchRevision ${metadata.name} to ${what}`];
      }
      case 'deleteRevision':
        return [`deleteRevision ${action.revision.metadata.name}`];
      case 'bumpCollisions':
      case 'updateStatus':
        return [action.kind];
      default:
        return [];
    }
  });
}

/** Creations and deletions of pods only. */
export function podWritesOf(actions: readonly Action[]): string[] {
  return writesOf(actions).filter((write) => /^(create|delete) /.test(write));
}

/** Events as "Reason: message". */
export function eventsOf(actions: readonly Action[]): string[] {
  return actions.flatMap((action) =>
    action.kind === 'event' ? [`${action.event.reason}: ${action.event.message}`] : [],
  );
}

/** The status that was written last. */
export function statusOf(actions: readonly Action[]): DaemonSetStatus | undefined {
  const last = actions.findLast((action) => action.kind === 'updateStatus');
  return last?.kind === 'updateStatus' ? last.status : undefined;
}
