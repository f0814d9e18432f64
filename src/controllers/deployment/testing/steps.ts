/** Reading the steps of a sync in tests. */
import type { ReplicaSet } from '../../../api/types/index.ts';
import type { Action, Knowledge } from '../actions.ts';
import { sizeOf } from '../sizes.ts';
import type { Server } from './server.ts';

/** Steps as short words: "scaleReplicaSet web-1 to 3", "event ScalingReplicaSet", "updateStatus". */
export function inShort(actions: readonly Action[]): string[] {
  return actions.map((action) => {
    switch (action.kind) {
      case 'createReplicaSet':
        return `createReplicaSet of ${action.replicaSet.spec?.replicas}`;
      case 'scaleReplicaSet':
        return `scaleReplicaSet ${action.replicaSet.metadata.name} to ${sizeOf(action.replicaSet)}`;
      case 'updateReplicaSet':
      case 'deleteReplicaSet':
        return `${action.kind} ${action.replicaSet.metadata.name}`;
      case 'event':
        return `event ${action.event.reason}`;
      default:
        return action.kind;
    }
  });
}

/** Messages of the events among the steps. */
export function eventsOf(actions: readonly Action[]): string[] {
  return actions.flatMap((action) => (action.kind === 'event' ? [action.event.message] : []));
}

/** Sizes by name as stored. */
export function sizesOf(server: Server): Record<string, number> {
  const entries = [...server.replicaSets].map(([name, stored]) => [name, sizeOf(stored)]);
  return Object.fromEntries(entries);
}

/** What a pass over these objects knows. */
export function knowledgeOf(server: Server): Knowledge {
  const { deployment, now } = server;
  const replicaSets: ReplicaSet[] = [...server.replicaSets.values()];
  return { deployment, replicaSets, running: new Set(), now, terminatingReplicas: true };
}
