/**
 * Creating and deleting pods exactly once: the name is chosen here, the intent is committed before
 * the call, and what an earlier attempt left open is settled instead of repeated. Events, slow
 * start and the treatment of terminating namespaces follow upstream's pod control.
 */
import {
  FencedError,
  followsServerError,
  isAlreadyExists,
  isConflict,
  isDefiniteAnswer,
  isNamespaceTerminating,
  isNotFound,
} from '../api/errors.ts';
import { knownFields } from '../api/known-fields.ts';
import { PODS, resourceId } from '../api/resource.ts';
import type { KubeObject, ObjectReference, Pod, PodTemplateSpec } from '../api/types/index.ts';
import type {
  EventRecorder,
  PodBatchResult,
  PodControl,
  PodCreation,
  SyncRun,
} from './controller.ts';
import { findOurs } from './find-one.ts';
import type { ObjectRecord } from './informer/types.ts';
import type { Intents } from './intents.ts';
import { NAME_COLLISIONS_MAX, POD_DELETES_AT_ONCE, SLOW_START_INITIAL } from './limits.ts';
import type { IntentRow } from './ports.ts';
import type { Random } from './random.ts';
import { slowStart } from './slow-start.ts';

const NAME_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const NAME_SUFFIX_LENGTH = 5;
const KEPT_PREFIX_LENGTH = 58;

export interface PodControlDeps {
  readonly intents: Intents;
  readonly events: EventRecorder;
  readonly random: Random;
  /** Whether this owner's next sync must see these writes in the cache first. */
  readonly guard: boolean;
}

/** Creates the pod control of one controller. */
export function createPodControl(deps: PodControlDeps): PodControl {
  return new ExactPodControl(deps);
}

/** A name as the server would choose it: the prefix cut to 58 and five random characters. */
export function generatedName(prefix: string, random: Random): string {
  const kept = prefix.slice(0, KEPT_PREFIX_LENGTH);
  return kept + random.text(NAME_SUFFIX_LENGTH, NAME_ALPHABET);
}

class ExactPodControl implements PodControl {
  readonly #deps: PodControlDeps;

  constructor(deps: PodControlDeps) {
    this.#deps = deps;
  }

  deleting(ownerUid: string): ReadonlySet<string> {
    return this.#deps.intents.deleting(ownerUid);
  }

  async createPods(
    run: SyncRun,
    owner: KubeObject,
    ownerKey: string,
    pods: readonly PodCreation[],
  ): Promise<PodBatchResult> {
    const announced = pods.map((pod) => ({ pod, intent: this.#announce(pod) }));
    await run.barrier();
    const started = new Set<IntentRow>();
    let terminating: unknown;
    let refused = 0;
    const result = await slowStart(pods.length, SLOW_START_INITIAL, async (index) => {
      const next = announced[index];
      if (next === undefined) return;
      started.add(next.intent);
      const refusal = await this.#create(run, owner, ownerKey, next.pod, next.intent);
      if (refusal === undefined) return;
      terminating ??= refusal;
      refused++;
    });
    const unsent = announced.filter(({ intent }) => !started.has(intent));
    for (const { intent } of unsent) this.#deps.intents.refused(intent);
    const notDone = Array.from({ length: pods.length - result.successes }, () => '');
    const failed = result.tried - result.successes;
    return { done: result.successes, notDone, failed, refused, terminating, error: result.error };
  }

  async deletePods(
    run: SyncRun,
    owner: KubeObject,
    pods: readonly { record: ObjectRecord; because: string }[],
  ): Promise<PodBatchResult> {
    const resource = resourceId(PODS);
    const announced = pods.map(({ record, because }) => {
      const { namespace, name, uid } = record;
      const victim = { resource, namespace, name, uid };
      return {
        record,
        because,
        intent: this.#deps.intents.announceDelete(victim, owner.metadata.uid),
      };
    });
    await run.barrier();
    const notDone: string[] = [];
    const errors: unknown[] = [];
    const worker = async (): Promise<void> => {
      for (let next = announced.shift(); next !== undefined; next = announced.shift()) {
        const error = await this.#delete(run, owner, next.record, next.because, next.intent);
        if (error === undefined) continue;
        notDone.push(next.record.key);
        if (!(error instanceof PodGone)) errors.push(error);
      }
    };
    const count = announced.length;
    await Promise.all(Array.from({ length: Math.min(POD_DELETES_AT_ONCE, count) }, worker));
    const failed = errors.length;
    return { done: count - notDone.length, notDone, failed, error: errors[0] };
  }

  #announce(pod: PodCreation): IntentRow {
    const slot = {
      ownerUid: pod.owner.uid,
      slot: pod.slot,
      resource: resourceId(PODS),
      namespace: pod.namespace,
    };
    return this.#deps.intents.announceCreate(
      slot,
      () => pod.name ?? generatedName(pod.generateName, this.#deps.random),
    );
  }

  /** Gives the refusal of a terminating namespace, which counts as success. Throws any other. */
  async #create(
    run: SyncRun,
    owner: KubeObject,
    ownerKey: string,
    pod: PodCreation,
    first: IntentRow,
  ): Promise<unknown> {
    let intent = first;
    if (!hasLabels(pod)) {
      this.#deps.intents.refused(intent);
      throw new Error('unable to create pods, no labels');
    }
    for (let attempt = 0; ; attempt++) {
      try {
        const created = await run.client.create<Pod>(
          PODS,
          { namespace: pod.namespace },
          podBody(pod, intent.name),
          { because: pod.because, metadataOnly: true, ...this.#guardOf(ownerKey, pod.owner.uid) },
        );
        this.#deps.intents.settle(intent);
        this.#event(owner, 'Normal', 'SuccessfulCreate', `Created pod: ${created.metadata.name}`);
        return undefined;
      } catch (error) {
        if (followsServerError(error)) this.#deps.intents.doubt(intent);
        if (isAlreadyExists(error) && pod.name === undefined && attempt < NAME_COLLISIONS_MAX) {
          const mayBeDone = this.#deps.intents.mayBeDone(intent);
          const ours = mayBeDone && (await this.#isOurs(run, pod, intent));
          this.#deps.intents.settle(intent);
          if (ours) return undefined;
          intent = this.#announce(pod);
          await run.barrier();
          continue;
        }
        this.#createFailed(owner, intent, error);
        if (isNamespaceTerminating(error)) return error;
        throw error;
      }
    }
  }

  /** The name is taken: by the pod an earlier attempt of ours made, or by a stranger. */
  async #isOurs(run: SyncRun, pod: PodCreation, intent: IntentRow): Promise<boolean> {
    const { namespace, owner, ofSlot } = pod;
    const ours = { namespace, name: intent.name, ownerUid: owner.uid, ...(ofSlot && { ofSlot }) };
    try {
      return (await findOurs<Pod>(run.client, PODS, ours)) !== undefined;
    } catch (error) {
      this.#deps.intents.leaveOpen(intent);
      throw error;
    }
  }

  #createFailed(owner: KubeObject, intent: IntentRow, error: unknown): void {
    if (isDefiniteAnswer(error)) this.#deps.intents.refused(intent);
    else this.#deps.intents.leaveOpen(intent);
    if (isNamespaceTerminating(error) || error instanceof FencedError) return;
    this.#event(owner, 'Warning', 'FailedCreate', `Error creating: ${messageOf(error)}`);
  }

  async #delete(
    run: SyncRun,
    owner: KubeObject,
    record: ObjectRecord,
    because: string,
    intent: IntentRow,
  ): Promise<unknown> {
    const { namespace, name, uid } = record;
    try {
      await run.client.delete(PODS, { namespace, name }, { because, uid });
      this.#deps.intents.settle(intent);
      this.#event(owner, 'Normal', 'SuccessfulDelete', `Deleted pod: ${name}`);
      return undefined;
    } catch (error) {
      // A conflict means another pod has that name now: this one is gone.
      const gone = isNotFound(error) || isConflict(error);
      if (gone) this.#deps.intents.settle(intent);
      else if (isDefiniteAnswer(error)) this.#deps.intents.refused(intent);
      else this.#deps.intents.leaveOpen(intent);
      if (gone) return new PodGone(record.key, error);
      if (error instanceof FencedError) return error;
      this.#event(owner, 'Warning', 'FailedDelete', `Error deleting: ${messageOf(error)}`);
      return new Error(`unable to delete pods: ${messageOf(error)}`, { cause: error });
    }
  }

  #guardOf(ownerKey: string, ownerUid: string): { guard?: { ownerKey: string; ownerUid: string } } {
    return this.#deps.guard ? { guard: { ownerKey, ownerUid } } : {};
  }

  #event(owner: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.#deps.events.event(referenceTo(owner), type, reason, message);
  }
}

/** The pod to delete is not there: its expectation must be lowered, and it is no error. */
export class PodGone extends Error {
  constructor(podKey: string, cause: unknown) {
    super(`pod ${podKey} is gone`, { cause });
    this.name = 'PodGone';
  }
}

/** Reference to an object for events about it. */
export function referenceTo(object: KubeObject): ObjectReference {
  const { namespace, name, uid, resourceVersion } = object.metadata;
  const { apiVersion, kind } = object;
  return { apiVersion, kind, namespace, name, uid, resourceVersion };
}

function podBody(pod: PodCreation, name: string): object {
  const template = knownFields(pod.template as PodTemplateSpec, 'PodTemplateSpec');
  const { apiVersion, kind, name: ownerName, uid } = pod.owner;
  const finalizers = [...(template.metadata?.finalizers ?? []), ...(pod.finalizers ?? [])];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      generateName: pod.generateName,
      namespace: pod.namespace,
      labels: template.metadata?.labels,
      annotations: template.metadata?.annotations,
      ...(finalizers.length > 0 ? { finalizers } : {}),
      ownerReferences: [
        { apiVersion, kind, name: ownerName, uid, controller: true, blockOwnerDeletion: true },
      ],
    },
    spec: template.spec,
  };
}

function hasLabels(pod: PodCreation): boolean {
  const template = pod.template as PodTemplateSpec;
  return Object.keys(template.metadata?.labels ?? {}).length > 0;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
