/** The engine of ReplicaSets and ReplicationControllers; `buildReplicaController` wires a kind. */
import type { KubeObject } from '../../../api/types/index.ts';
import type { Controller, ControllerContext } from '../../../runtime/controller.ts';
import type { ReplicaKind } from './kind.ts';
import { ageRatios } from './metrics.ts';
import { ReplicaSync } from './sync.ts';
import { ReplicaTriggers } from './triggers.ts';

export type { ReplicaKind, ReplicaView } from './kind.ts';

/** Builds the controller of one kind: its queue, its handlers, its sync. */
export function buildReplicaController<T extends KubeObject>(
  context: ControllerContext,
  kind: ReplicaKind<T>,
): Controller {
  const owners = context.informers.of<T>(kind.resource);
  const pods = context.informers.pods();
  const queue = context.queue(kind.queue);
  const expectations = context.expectations();
  const guard = kind.guardGate !== undefined && context.gate(kind.guardGate);
  const sync = new ReplicaSync<T>({
    kind,
    owners: owners.lister,
    pods: pods.lister,
    expectations,
    podControl: context.podControl(context.events(kind.component), { guard }),
    guard,
    clock: context.clock,
    log: context.log,
    reportAges: ageRatios(context.metrics),
    useDeletionCost: context.gate('PodDeletionCost'),
    countTerminating:
      kind.terminatingReplicas && context.gate('DeploymentReplicaSetTerminatingReplicas'),
    caughtUp: (key, uid) => context.caughtUp(key, uid),
  });
  const triggers = new ReplicaTriggers({ kind, owners: owners.lister, queue, expectations });
  owners.addHandler(triggers.owners());
  pods.addHandler(triggers.pods());
  return {
    queues: [
      {
        queue,
        workers: Number(context.flags[kind.workersFlag]),
        reconcile: (key, run) => sync.reconcile(key, run),
      },
    ],
  };
}
