/** Carries the steps of a sync out, one by one, and hands each answer back to the decision. */
import { isConflict } from '../../api/errors.ts';
import { generateNameFor, keyOf } from '../../api/meta.ts';
import {
  apiVersionOf,
  PERSISTENT_VOLUME_CLAIMS,
  PODS,
  type Resource,
  STATEFUL_SETS,
} from '../../api/resource.ts';
import type {
  KubeObject,
  PersistentVolumeClaim,
  Pod,
  StatefulSet,
  StatefulSetStatus,
} from '../../api/types/index.ts';
import type { EventRecorder, PodControl, SyncRun } from '../../runtime/controller.ts';
import type { Lister, PodRecord } from '../../runtime/informer/types.ts';
import { referenceTo } from '../../runtime/pod-control.ts';
import { slowStart } from '../../runtime/slow-start.ts';
import {
  createRevision,
  deleteRevision,
  fetchRevision,
  patchRevision,
} from '../_kit/revisions/stored.ts';
import { answerOf, carryOutSteps } from '../_kit/steps.ts';
import type { Action, Steps } from './actions.ts';
import type { Member } from './members.ts';
import type { MaxUnavailableGauges } from './metrics.ts';

/** Most calls side by side in a Parallel set. */
const BATCH_SIZE_MAX = 500;
const STATUS_TRIES = 5;

/** The ports that acting goes through. */
export interface ActPorts {
  readonly pods: Lister<Pod, PodRecord>;
  readonly claims: Lister<PersistentVolumeClaim>;
  /** Reports no events of its own: this controller's are worded otherwise. */
  readonly podControl: PodControl;
  readonly events: EventRecorder;
  /** Writes must be seen by the next sync of their set. */
  readonly guard: boolean;
  readonly gauges?: MaxUnavailableGauges;
}

/** Runs a decision to its end. Throws what makes the sync fail. */
export async function act(
  ports: ActPorts,
  run: SyncRun,
  set: StatefulSet,
  steps: Steps<void>,
): Promise<void> {
  const sync = new Acting(ports, run, set);
  await carryOutSteps(steps, (action) => sync.carryOut(action));
}

class Acting {
  readonly #ports: ActPorts;
  readonly #run: SyncRun;
  readonly #set: StatefulSet;

  constructor(ports: ActPorts, run: SyncRun, set: StatefulSet) {
    this.#ports = ports;
    this.#run = run;
    this.#set = set;
  }

  async carryOut(action: Action): Promise<KubeObject | undefined> {
    switch (action.kind) {
      case 'readPod':
        return await this.#read(PODS, this.#ports.pods, action);
      case 'readClaim':
        return await this.#read(PERSISTENT_VOLUME_CLAIMS, this.#ports.claims, action);
      case 'createPod':
        return await this.#createPod(action.pod, action.because);
      case 'deletePod':
        return await this.#deletePod(action.record, action.because);
      case 'updatePod':
        return await this.#put(PODS, action.pod, action.because);
      case 'updateClaim':
        return await this.#put(PERSISTENT_VOLUME_CLAIMS, action.claim, action.because);
      case 'sideBySide':
        return await this.#sideBySide(action.steps);
      case 'createClaim':
      case 'createRevision':
      case 'readRevision':
      case 'renumberRevision':
      case 'deleteRevision':
        return await this.#otherWrite(action);
      case 'updateStatus':
        return await this.#updateStatus(action.status, action.because);
      default:
        return this.#tell(action);
    }
  }

  #tell(action: Extract<Action, { kind: 'event' | 'measure' | 'again' | 'note' }>): undefined {
    switch (action.kind) {
      case 'event': {
        const { type, reason, message } = action.event;
        this.#ports.events.event(referenceTo(this.#set), type, reason, message);
        return;
      }
      case 'measure':
        this.#ports.gauges?.report(this.#set, action);
        return;
      case 'again':
        this.#run.again(action.delayMs, action.because);
        return;
      case 'note':
        this.#run.note(action.because);
    }
  }

  get #namespace(): string {
    return this.#set.metadata.namespace ?? '';
  }

  get #guard() {
    const { metadata } = this.#set;
    if (!this.#ports.guard) return undefined;
    return { ownerKey: keyOf(metadata), ownerUid: metadata.uid };
  }

  async #read<T extends KubeObject>(
    resource: Resource,
    lister: Pick<Lister<T>, 'get'>,
    { name, live }: { readonly name: string; readonly live?: boolean },
  ): Promise<T | undefined> {
    const namespace = this.#namespace;
    if (live) return await this.#run.client.get<T>(resource, { namespace, name });
    return lister.get(keyOf({ namespace, name }));
  }

  async #createPod(pod: Member, because: string): Promise<undefined> {
    const { name, uid } = this.#set.metadata;
    const owner = { apiVersion: apiVersionOf(STATEFUL_SETS), kind: STATEFUL_SETS.kind, name, uid };
    const creation = {
      namespace: this.#namespace,
      owner,
      template: pod.template ?? {},
      generateName: generateNameFor(name),
      name: pod.name,
      slot: `${pod.ordinal}/${pod.revision}`,
      because,
    };
    const key = keyOf(this.#set.metadata);
    const result = await this.#ports.podControl.createPods(this.#run, this.#set, key, [creation]);
    const error = result.error ?? result.terminating;
    if (error !== undefined) throw answerOf(error);
    return undefined;
  }

  async #deletePod(record: PodRecord, because: string): Promise<undefined> {
    const victims = [{ record, because }];
    const result = await this.#ports.podControl.deletePods(this.#run, this.#set, victims);
    if (result.error !== undefined) throw answerOf(result.error);
    return undefined;
  }

  async #put<T extends KubeObject>(resource: Resource, object: T, because: string): Promise<T> {
    const at = { namespace: this.#namespace, name: object.metadata.name };
    const body = { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind };
    return await this.#run.client.update<T>(resource, at, body, { because, guard: this.#guard });
  }

  /** Refusals inside one of the steps are its own; the first that it throws ends the batch. */
  async #sideBySide(steps: readonly Steps<unknown>[]): Promise<undefined> {
    const one = async (index: number): Promise<void> => {
      const next = steps[index];
      if (next !== undefined) await carryOutSteps(next, (action) => this.carryOut(action));
    };
    const { error } = await slowStart(steps.length, 1, one, BATCH_SIZE_MAX);
    if (error !== undefined) throw error;
    return undefined;
  }

  async #otherWrite(
    action: Extract<Action, { kind: 'createClaim' | 'readRevision' | `${string}Revision` }>,
  ): Promise<KubeObject | undefined> {
    const namespace = this.#namespace;
    const { client } = this.#run;
    switch (action.kind) {
      case 'createClaim': {
        const { claim, because } = action;
        const options = { because, guard: this.#guard };
        return await client.create(PERSISTENT_VOLUME_CLAIMS, { namespace }, claim, options);
      }
      case 'createRevision':
        return await createRevision(this.#run, namespace, action.revision, action.because);
      case 'readRevision':
        return await fetchRevision(this.#run, namespace, action.name);
      case 'renumberRevision': {
        const { revision, to, because } = action;
        return await patchRevision(this.#run, revision, { revision: to }, because);
      }
      case 'deleteRevision':
        await deleteRevision(this.#run, action.revision, action.because);
        return undefined;
    }
  }

  /** After a conflict it is tried again over a live read of the same set. */
  async #updateStatus(status: StatefulSetStatus, because: string): Promise<StatefulSet> {
    const { name, uid } = this.#set.metadata;
    const at = { namespace: this.#namespace, name };
    const options = { because, guard: this.#guard };
    let base = this.#set;
    for (let tries = 1; ; tries++) {
      const body = { ...base, apiVersion: apiVersionOf(STATEFUL_SETS), kind: STATEFUL_SETS.kind };
      try {
        return await this.#run.client.update<StatefulSet>(
          STATEFUL_SETS,
          { ...at, subresource: 'status' },
          { ...body, status },
          options,
        );
      } catch (error) {
        if (!isConflict(error) || tries === STATUS_TRIES) throw error;
        base = await this.#run.client.get<StatefulSet>(STATEFUL_SETS, at);
        if (base.metadata.uid !== uid) throw error;
      }
    }
  }
}
