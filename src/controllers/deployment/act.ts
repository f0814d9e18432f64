/** Carries the steps of a sync out, one by one, and hands each answer back to the decision. */
import { ApiError, TransportError } from '../../api/errors.ts';
import { keyOf } from '../../api/meta.ts';
import { apiVersionOf, DEPLOYMENTS, REPLICA_SETS, type Resource } from '../../api/resource.ts';
import type { Deployment, KubeObject, ReplicaSet } from '../../api/types/index.ts';
import type { EventRecorder, SyncRun } from '../../runtime/controller.ts';
import type { Lister } from '../../runtime/informer/types.ts';
import type { Action, DeploymentEvent, Steps } from './actions.ts';
import type { WrittenDeployments } from './written.ts';

/** The ports that acting goes through. */
export interface ActPorts {
  readonly replicaSets: Lister<ReplicaSet>;
  readonly events: EventRecorder;
  readonly written: WrittenDeployments;
}

/**
 * Runs a decision to its end. What the API server refuses is thrown at the decision, which may go
 * on or let the sync fail; anything else (the Lease is lost, the disk lost an object) ends it here.
 */
export async function act(
  ports: ActPorts,
  run: SyncRun,
  deployment: Deployment,
  steps: Steps<void>,
): Promise<void> {
  let step = steps.next();
  while (!step.done) {
    let answer: KubeObject | undefined;
    try {
      answer = await carryOut(ports, run, deployment, step.value);
    } catch (error) {
      if (!(error instanceof ApiError || error instanceof TransportError)) throw error;
      step = steps.throw(error);
      continue;
    }
    step = steps.next(answer);
  }
}

async function carryOut(
  ports: ActPorts,
  run: SyncRun,
  deployment: Deployment,
  action: Action,
): Promise<KubeObject | undefined> {
  const { namespace = '' } = deployment.metadata;
  switch (action.kind) {
    case 'createReplicaSet': {
      const { replicaSet, because } = action;
      return await run.client.create<ReplicaSet>(REPLICA_SETS, { namespace }, replicaSet, {
        because,
      });
    }
    case 'scaleReplicaSet':
    case 'updateReplicaSet':
      return await put(run, REPLICA_SETS, action.replicaSet, action.because);
    case 'deleteReplicaSet':
      return await remove(run, action.replicaSet, action.because);
    case 'updateDeployment':
      return await putDeployment(ports, run, action);
    case 'updateStatus':
      return await putDeployment(ports, run, action, 'status');
    case 'readReplicaSet':
      return ports.replicaSets.get(keyOf({ namespace, name: action.name }));
    case 'event':
      return emit(ports.events, deployment, action.event);
    case 'again':
      run.again(action.delayMs, action.because);
      return undefined;
    case 'note':
      run.note(action.because);
      return undefined;
  }
}

async function putDeployment(
  { written }: ActPorts,
  run: SyncRun,
  { deployment, because }: { readonly deployment: Deployment; readonly because: string },
  subresource?: string,
): Promise<Deployment> {
  const stored = await put(run, DEPLOYMENTS, deployment, because, subresource);
  const { uid, resourceVersion } = stored.metadata;
  written.note(keyOf(stored.metadata), uid, resourceVersion);
  return stored;
}

async function put<T extends KubeObject>(
  run: SyncRun,
  resource: Resource,
  object: T,
  because: string,
  subresource?: string,
): Promise<T> {
  const { namespace, name } = object.metadata;
  const body = { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind };
  return await run.client.update<T>(resource, { namespace, name, subresource }, body, { because });
}

/** The version goes along: it was empty when this was decided, and must still be. */
async function remove(run: SyncRun, replicaSet: ReplicaSet, because: string): Promise<undefined> {
  const { namespace, name, uid, resourceVersion } = replicaSet.metadata;
  await run.client.delete(REPLICA_SETS, { namespace, name }, { uid, resourceVersion, because });
  return undefined;
}

function emit(events: EventRecorder, deployment: Deployment, event: DeploymentEvent): undefined {
  const { namespace, name, uid, resourceVersion } = deployment.metadata;
  events.event(
    {
      apiVersion: apiVersionOf(DEPLOYMENTS),
      kind: DEPLOYMENTS.kind,
      namespace,
      name,
      uid,
      resourceVersion,
    },
    event.type,
    event.reason,
    event.message,
  );
  return undefined;
}
