/** Creating the new ReplicaSet, and what happens when its name is taken or it is refused. */
import { setCondition } from '../../api/condition.ts';
import { isAlreadyExists, isNamespaceTerminating } from '../../api/errors.ts';
import { templateHash } from '../../api/hash.ts';
import { knownFields } from '../../api/known-fields.ts';
import { controllerOf, controllerReference } from '../../api/meta.ts';
import { apiVersionOf, DEPLOYMENTS, REPLICA_SETS } from '../../api/resource.ts';
import { POD_TEMPLATE_HASH_LABEL, templatesEqual } from '../../api/template.ts';
import type { Deployment, ReplicaSet } from '../../api/types/index.ts';
import { attempt, type Knowledge, type NewReplicaSet, type Steps, writeStatus } from './actions.ts';
import { newReplicaSetAnnotations, sizeAnnotationsFor } from './annotations.ts';
import { newCondition } from './conditions.ts';
import { replicaSetCreateError, scalingReplicaSet } from './events.ts';
import { noteRevision } from './revision.ts';
import { newSizeOf, progressDeadlineOf, sizeOf, sumOf, templateOf } from './sizes.ts';

/** Longest name of an object. */
const NAME_CHARACTERS_MAX = 253;

/** "<deployment>-<hash>", the Deployment's part cut so that the whole fits. */
export function replicaSetName(deploymentName: string, hash: string): string {
  const room = NAME_CHARACTERS_MAX - 1 - hash.length;
  return `${deploymentName.slice(0, room)}-${hash}`;
}

/** The ReplicaSet that the Deployment's template, strategy and collision count ask for. */
export function newReplicaSetFor(
  deployment: Deployment,
  oldRSs: readonly ReplicaSet[],
  revision: bigint,
): NewReplicaSet {
  const template = knownFields(templateOf(deployment), 'PodTemplateSpec');
  const hash = templateHash(template, deployment.status?.collisionCount);
  const labels = { ...template.metadata?.labels, [POD_TEMPLATE_HASH_LABEL]: hash };
  const selector = deployment.spec?.selector;
  const matchLabels = { ...selector?.matchLabels, [POD_TEMPLATE_HASH_LABEL]: hash };
  const { annotations } = newReplicaSetAnnotations(deployment, {}, revision);
  return {
    apiVersion: apiVersionOf(REPLICA_SETS),
    kind: REPLICA_SETS.kind,
    metadata: {
      name: replicaSetName(deployment.metadata.name, hash),
      namespace: deployment.metadata.namespace,
      labels,
      annotations: { ...annotations, ...sizeAnnotationsFor(deployment) },
      ownerReferences: [controllerReference(deployment.metadata, DEPLOYMENTS)],
    },
    spec: {
      replicas: newSizeOf(deployment, sumOf(oldRSs, sizeOf), 0),
      minReadySeconds: deployment.spec?.minReadySeconds,
      selector: { ...selector, matchLabels },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}

/** Creates the new ReplicaSet and notes it on the Deployment. Throws the API server's refusal. */
export function* createNewReplicaSet(
  known: Knowledge,
  oldRSs: readonly ReplicaSet[],
  revision: bigint,
): Steps<ReplicaSet> {
  const wanted = newReplicaSetFor(known.deployment, oldRSs, revision);
  const { name } = wanted.metadata;
  const size = wanted.spec?.replicas ?? 0;
  const because = `template of revision ${revision} has no ReplicaSet: creating ${name} of ${size}`;
  let created: ReplicaSet;
  try {
    created = (yield { kind: 'createReplicaSet', replicaSet: wanted, because }) as ReplicaSet;
  } catch (error) {
    if (!isAlreadyExists(error)) return yield* refused(known, name, error);
    const taken = yield* settleTakenName(known, name, error);
    yield* noteRevision(known, String(revision), undefined);
    return taken;
  }
  if (size > 0) yield { kind: 'event', event: scalingReplicaSet(name, 0, size) };
  const message = `Created new replica set "${name}"`;
  yield* noteRevision(
    known,
    String(revision),
    newCondition('Progressing', 'True', 'NewReplicaSetCreated', message, known.now),
  );
  return created;
}

/** A refusal is shown on the Deployment, unless its namespace is going away. */
function* refused(known: Knowledge, name: string, error: unknown): Steps<never> {
  if (isNamespaceTerminating(error)) throw error;
  const text = error instanceof Error ? error.message : String(error);
  const message = `Failed to create new replica set "${name}": ${text}`;
  const { deployment, now } = known;
  if (progressDeadlineOf(deployment) !== undefined) {
    const condition = newCondition('Progressing', 'False', 'ReplicaSetCreateError', message, now);
    const conditions = setCondition(deployment.status?.conditions ?? [], condition);
    const next = { ...deployment, status: { ...deployment.status, conditions } };
    yield* attempt(writeStatus(known, next, message));
  }
  yield { kind: 'event', event: replicaSetCreateError(message) };
  throw error;
}

/**
 * The name is taken: by our own ReplicaSet with this template (the cache was behind), which is then
 * the new one; or by another, and then the collision count makes the next try hash differently.
 */
function* settleTakenName(known: Knowledge, name: string, error: unknown): Steps<ReplicaSet> {
  const taken = (yield { kind: 'readReplicaSet', name }) as ReplicaSet | undefined;
  if (taken === undefined) {
    throw new Error(`ReplicaSet ${name} exists, but the cache doesn't show it yet`, {
      cause: error,
    });
  }
  const { deployment } = known;
  const ours = controllerOf(taken)?.uid === deployment.metadata.uid;
  if (ours && templatesEqual(templateOf(deployment), templateOf(taken))) return taken;
  const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
  const next = { ...deployment, status: { ...deployment.status, collisionCount } };
  yield* attempt(
    writeStatus(known, next, `ReplicaSet ${name} is another's: collision count ${collisionCount}`),
  );
  throw error;
}
