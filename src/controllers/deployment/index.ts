/**
 * deployment-controller: rolls the pod template of Deployments out through ReplicaSets, and spreads
 * changed sizes over them. Start with `decide.ts`: a sync from its first step to its last.
 */
import { isNamespaceTerminating } from '../../api/errors.ts';
import { DEPLOYMENTS, PODS, REPLICA_SETS } from '../../api/resource.ts';
import type { Deployment, ReplicaSet } from '../../api/types/index.ts';
import { carryOutClaims } from '../../runtime/claim.ts';
import type {
  Controller,
  ControllerContext,
  ControllerDefinition,
  SyncRun,
} from '../../runtime/controller.ts';
import { type ActPorts, act } from './act.ts';
import { type DeploymentConfig, decide, refuseSelector, selectsEverything } from './decide.ts';
import { type DeploymentCaches, observe, observeClaims } from './observe.ts';
import { DeploymentTriggers } from './triggers.ts';
import { WrittenDeployments } from './written.ts';

const NAME = 'deployment-controller';
const WORKERS_FLAG = 'concurrent-deployment-syncs';
const RETRIES_MAX = 15;
/** The event of our own write queues the key again, as a rule at once. */
const LAG_MAX_MS = 1_000;

/** The passport of the deployment controller. */
export const deploymentController: ControllerDefinition = {
  name: NAME,
  aliases: ['deployment'],
  gates: [],
  enabledByDefault: true,
  account: NAME,
  watches: [DEPLOYMENTS, REPLICA_SETS, PODS],
  writes: [
    'replicasets create/update/patch/delete',
    'deployments update (rollback)',
    'deployments/status update',
    'events create/patch',
  ],
  flags: [WORKERS_FLAG],
  build,
};

function build(context: ControllerContext): Controller {
  const deployments = context.informers.of<Deployment>(DEPLOYMENTS);
  const replicaSets = context.informers.of<ReplicaSet>(REPLICA_SETS);
  const pods = context.informers.pods();
  const caches: DeploymentCaches = {
    deployments: deployments.lister,
    replicaSets: replicaSets.lister,
    pods: pods.lister,
  };
  const queue = context.queue('deployment');
  const ports: ActPorts = {
    replicaSets: replicaSets.lister,
    events: context.events(NAME),
    written: new WrittenDeployments(),
  };
  const config: DeploymentConfig = {
    terminatingReplicas: context.gate('DeploymentReplicaSetTerminatingReplicas'),
  };
  const triggers = new DeploymentTriggers(caches, queue);
  deployments.addHandler(triggers.deployments());
  replicaSets.addHandler(triggers.replicaSets());
  pods.addHandler(triggers.pods());
  return {
    queues: [
      {
        queue,
        workers: Number(context.flags[WORKERS_FLAG]),
        retriesMax: RETRIES_MAX,
        dropAtOnce: isNamespaceTerminating,
        reconcile: (key, run) => reconcile(caches, ports, config, key, run),
      },
    ],
  };
}

async function reconcile(
  caches: DeploymentCaches,
  ports: ActPorts,
  config: DeploymentConfig,
  key: string,
  run: SyncRun,
): Promise<void> {
  if (ports.written.isAhead(key, caches.deployments.record(key))) {
    run.again(LAG_MAX_MS, 'the cache does not show the last write yet');
    return;
  }
  const deployment = caches.deployments.get(key);
  if (deployment === undefined) return;
  if (selectsEverything(deployment)) {
    await act(ports, run, deployment, refuseSelector(deployment));
    return;
  }
  const { owner, selectorText, claims } = observeClaims(caches, deployment);
  const pass = {
    owner,
    ownerResource: DEPLOYMENTS,
    resource: REPLICA_SETS,
    selectorText,
    guard: false,
  };
  const owned = await carryOutClaims(run, pass, claims);
  const observed = observe(caches, deployment, owned);
  await act(ports, run, deployment, decide(observed, run.now, config));
}
