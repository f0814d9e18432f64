/**
 * replicationcontroller-controller: the ReplicaSet engine over replication controllers, which are
 * seen as an older form of ReplicaSet. Differences: the selector is a plain map, the status has no
 * terminatingReplicas, siblings don't count, and there is no read-your-writes guard.
 */
import type { StringMap } from '../../api/meta.ts';
import { PODS, REPLICATION_CONTROLLERS } from '../../api/resource.ts';
import type { ReplicationController } from '../../api/types/index.ts';
import type { ControllerDefinition } from '../../runtime/controller.ts';
import {
  buildReplicaController,
  type ReplicaKind,
  type ReplicaView,
} from '../_kit/replicas/index.ts';

const WORKERS_FLAG = 'concurrent-rc-syncs';

const replicationControllers: ReplicaKind<ReplicationController> = {
  resource: REPLICATION_CONTROLLERS,
  queue: 'replicationmanager',
  component: 'replication-controller',
  workersFlag: WORKERS_FLAG,
  terminatingReplicas: false,
  // Upstream's index of owners knows ReplicaSets only: it finds no siblings of this kind.
  countsSiblings: false,
  view: asReplicaSet,
};

/** The passport of the ReplicationController controller. */
export const replicationControllerController: ControllerDefinition = {
  name: 'replicationcontroller-controller',
  aliases: ['replicationcontroller'],
  gates: [],
  enabledByDefault: true,
  account: 'replication-controller',
  watches: [REPLICATION_CONTROLLERS, PODS],
  writes: ['pods create/delete/patch', 'replicationcontrollers/status update', 'events'],
  flags: [WORKERS_FLAG],
  build: (context) => buildReplicaController(context, replicationControllers),
};

function asReplicaSet(controller: ReplicationController): ReplicaView {
  const { spec, ...rest } = controller;
  const matchLabels = spec?.selector as StringMap | undefined;
  return { ...rest, spec: { ...spec, selector: matchLabels && { matchLabels } } };
}
