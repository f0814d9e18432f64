/** Carries out what was decided about a ReplicaSet: creates, deletes, writes the status. */
import { FencedError } from '../../../api/errors.ts';
import { generateNameFor, keyOf } from '../../../api/meta.ts';
import { apiVersionOf } from '../../../api/resource.ts';
import type { KubeObject, ReplicaSetStatus } from '../../../api/types/index.ts';
import type {
  Expectations,
  PodControl,
  PodCreation,
  SyncRun,
} from '../../../runtime/controller.ts';
import type { PodRecord } from '../../../runtime/informer/types.ts';
import type { Choice } from './choose.ts';
import type { ReplicaPlan } from './decide.ts';
import type { ReplicaKind } from './kind.ts';
import type { Observed } from './observe.ts';

/** The ports that acting goes through. */
export interface ReplicaPorts<T extends KubeObject> {
  readonly kind: ReplicaKind<T>;
  readonly expectations: Expectations;
  readonly podControl: PodControl;
  /** Status writes must be seen by the next sync of their object. */
  readonly guard: boolean;
}

const TEMPLATE_HASH = 'pod-template-hash';
/** Slot of pods of a ReplicaSet that no Deployment made: any pod of the set serves as any other. */
const PLAIN_SLOT = 'replica';

/** Creates the planned pods in slow-start batches. Gives the first error, if any. */
export async function createPods<T extends KubeObject>(
  ports: ReplicaPorts<T>,
  run: SyncRun,
  { object, set }: Observed<T>,
  plan: ReplicaPlan,
): Promise<unknown> {
  const { kind, expectations, podControl } = ports;
  const key = keyOf(set.metadata);
  const { name, uid, namespace = '' } = set.metadata;
  const template = set.spec?.template ?? {};
  const hash = template.metadata?.labels?.[TEMPLATE_HASH];
  const pod: PodCreation = {
    namespace,
    owner: { apiVersion: apiVersionOf(kind.resource), kind: kind.resource.kind, name, uid },
    template,
    generateName: generateNameFor(name),
    slot: hash ?? PLAIN_SLOT,
    ofSlot: ({ metadata }) => metadata.labels?.[TEMPLATE_HASH] === hash,
    because: plan.because,
  };
  expectations.expect(key, uid, plan.count, []);
  const pods = Array.from({ length: plan.count }, () => pod);
  const result = await podControl.createPods(run, object, key, pods);
  for (const _ of result.notDone) expectations.creationObserved(key);
  return result.error;
}

/** Deletes the chosen pods. Gives the first error, if any; a pod that is gone is none. */
export async function deletePods<T extends KubeObject>(
  { expectations, podControl }: ReplicaPorts<T>,
  run: SyncRun,
  { object, set }: Observed<T>,
  chosen: readonly Choice<PodRecord>[],
): Promise<unknown> {
  const key = keyOf(set.metadata);
  const victims = chosen.map(({ pod, because }) => ({ record: pod, because }));
  const podKeys = victims.map(({ record }) => record.key);
  expectations.expect(key, set.metadata.uid, 0, podKeys);
  const result = await podControl.deletePods(run, object, victims);
  for (const podKey of result.notDone) expectations.deletionObserved(key, podKey);
  return result.error;
}

/**
 * Writes the status over the cached object; a failed write is tried once more over a live read of
 * the same object. Gives the object as the server has it now.
 */
export async function writeStatus<T extends KubeObject>(
  { kind, guard }: ReplicaPorts<T>,
  run: SyncRun,
  { object }: Observed<T>,
  status: ReplicaSetStatus,
  because: string,
): Promise<T> {
  const { name, namespace, uid } = object.metadata;
  const put = (base: KubeObject): Promise<T> =>
    run.client.update<T>(
      kind.resource,
      { namespace, name, subresource: 'status' },
      { ...base, status },
      { because, guard: guard ? { ownerKey: keyOf(object.metadata), ownerUid: uid } : undefined },
    );
  try {
    return await put(object);
  } catch (error) {
    if (error instanceof FencedError) throw error;
    const fresh = await run.client.get<T>(kind.resource, { namespace, name });
    if (fresh.metadata.uid === uid) return await put(fresh);
    const gone = `original ${kind.resource.kind} ${keyOf(object.metadata)} is gone`;
    throw new Error(`${gone}: got uid ${fresh.metadata.uid}, wanted ${uid}`, { cause: error });
  }
}
