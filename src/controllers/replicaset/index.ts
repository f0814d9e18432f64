/**
 * replicaset-controller: keeps as many pods as a ReplicaSet asks for. The engine is shared with
 * replication controllers: what it decides is in `_kit/replicas` (decide.ts how many, choose.ts
 * which pod dies, status.ts) and `api/pod-deletion.ts`.
 */
import { PODS, REPLICA_SETS } from '../../api/resource.ts';
import type { ReplicaSet } from '../../api/types/index.ts';
import type { ControllerDefinition } from '../../runtime/controller.ts';
import { buildReplicaController, type ReplicaKind } from '../_kit/replicas/index.ts';

const WORKERS_FLAG = 'concurrent-replicaset-syncs';

const replicaSets: ReplicaKind<ReplicaSet> = {
  resource: REPLICA_SETS,
  queue: 'replicaset',
  component: 'replicaset-controller',
  workersFlag: WORKERS_FLAG,
  terminatingReplicas: true,
  countsSiblings: true,
  guardGate: 'StaleControllerConsistencyReplicaSet',
  view: (set) => set,
};

/** The passport of the ReplicaSet controller. */
export const replicaSetController: ControllerDefinition = {
  name: 'replicaset-controller',
  aliases: ['replicaset'],
  gates: [],
  enabledByDefault: true,
  account: 'replicaset-controller',
  watches: [REPLICA_SETS, PODS],
  writes: ['pods create/delete/patch', 'replicasets/status update', 'events'],
  flags: [WORKERS_FLAG],
  build: (context) => buildReplicaController(context, replicaSets),
};
