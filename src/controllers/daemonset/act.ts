/** Carries the steps of a sync out, one by one, and hands each answer back to the decision. */
import { FencedError } from '../../api/errors.ts';
import { generateNameFor, keyOf } from '../../api/meta.ts';
import { apiVersionOf, DAEMON_SETS, PODS } from '../../api/resource.ts';
import type { Selector } from '../../api/selector.ts';
import type { DaemonSet, DaemonSetStatus, KubeObject } from '../../api/types/index.ts';
import { carryOutClaims } from '../../runtime/claim.ts';
import type {
  EventRecorder,
  Expectations,
  PodControl,
  PodCreation,
  SyncRun,
} from '../../runtime/controller.ts';
import { referenceTo } from '../../runtime/pod-control.ts';
import {
  createRevision,
  deleteRevision,
  fetchRevision,
  patchRevision,
} from '../_kit/revisions/stored.ts';
import { asAnswer, carryOutSteps, together } from '../_kit/steps.ts';
import type { Action, Answer, Steps } from './actions.ts';
import type { FailedPods } from './memory.ts';
import { claimsOf, type DaemonSetCaches, ownerOf, type TargetNodes } from './observe.ts';
import { type DaemonPod, HASH_LABEL, pinnedNode, pinnedTemplate, podTemplate } from './pod.ts';

/** The ports that acting goes through. */
export interface ActPorts {
  readonly caches: DaemonSetCaches;
  readonly targets: TargetNodes;
  readonly podControl: PodControl;
  readonly expectations: Expectations;
  readonly events: EventRecorder;
  readonly failedPods: FailedPods;
  /** Writes must be seen by the next sync of their set. */
  readonly guard: boolean;
}

/** Runs a decision about a set with this selector to its end. Throws what makes the sync fail. */
export async function act(
  ports: ActPorts,
  run: SyncRun,
  set: DaemonSet,
  selector: Selector,
  steps: Steps<void>,
): Promise<void> {
  const sync = new Acting(ports, run, set, selector);
  await carryOutSteps(steps, (action) => sync.carryOut(action));
}

class Acting {
  readonly #ports: ActPorts;
  readonly #run: SyncRun;
  readonly #set: DaemonSet;
  readonly #selector: Selector;
  readonly #key: string;
  /** UIDs adopted in this sync, which the cache may still show as orphans. */
  readonly #adopted = new Set<string>();
  /** The pods since the last write. */
  #pods: readonly DaemonPod[] | undefined;

  constructor(ports: ActPorts, run: SyncRun, set: DaemonSet, selector: Selector) {
    this.#ports = ports;
    this.#run = run;
    this.#set = set;
    this.#selector = selector;
    this.#key = keyOf(set.metadata);
  }

  async carryOut(action: Action): Promise<Answer> {
    switch (action.kind) {
      case 'listPods':
        this.#pods ??= await this.#listPods();
        return this.#pods;
      case 'expectationsMet':
        return this.#ports.expectations.satisfied(this.#key, this.#set.metadata.uid);
      case 'rememberFailure':
        return this.#ports.failedPods.note(this.#set, action.node, action.backoffMs) ?? undefined;
      case 'event':
      case 'again':
      case 'note':
        return this.#tell(action);
      default:
        this.#pods = undefined;
        return await this.#write(action);
    }
  }

  #tell(action: Extract<Action, { kind: 'event' | 'again' | 'note' }>): undefined {
    if (action.kind === 'again') this.#run.again(action.delayMs, action.because);
    else if (action.kind === 'note') this.#run.note(action.because);
    else {
      const { type, reason, message } = action.event;
      this.#ports.events.event(referenceTo(this.#set), type, reason, message);
    }
  }

  async #write(
    action: Exclude<
      Action,
      { kind: 'listPods' | 'expectationsMet' | 'rememberFailure' | 'event' | 'again' | 'note' }
    >,
  ): Promise<KubeObject | undefined> {
    const run = this.#run;
    const namespace = this.#namespace;
    switch (action.kind) {
      case 'syncPods':
        return await this.#syncPods(action);
      case 'relabelPod':
        return await this.#relabel(action);
      case 'createRevision':
        return await createRevision(run, namespace, action.revision, action.because);
      case 'fetchRevision':
        return await fetchRevision(run, namespace, action.name);
      case 'patchRevision':
        return await patchRevision(run, action.revision, patchOf(action.patch), action.because);
      case 'deleteRevision':
        await deleteRevision(run, action.revision, action.because);
        return undefined;
      case 'fetchSet':
        return await this.#fetchSet();
      case 'bumpCollisions': {
        const status = { ...action.set.status, collisionCount: action.to } as DaemonSetStatus;
        return await this.#putStatus(action.set, status, action.because);
      }
      case 'updateStatus':
        return await this.#updateStatus(action.status, action.because);
    }
  }

  get #namespace(): string {
    return this.#set.metadata.namespace ?? '';
  }

  get #guard() {
    const ownerUid = this.#set.metadata.uid;
    return this.#ports.guard ? { ownerKey: this.#key, ownerUid } : undefined;
  }

  async #listPods(): Promise<readonly DaemonPod[]> {
    const { caches, podControl, guard, targets } = this.#ports;
    const claims = claimsOf(caches.pods, this.#set, this.#selector);
    const adopted = claims.adopt.filter(({ uid }) => this.#adopted.has(uid));
    const adopt = claims.adopt.filter(({ uid }) => !this.#adopted.has(uid));
    const pass = {
      owner: ownerOf(this.#set),
      ownerResource: DAEMON_SETS,
      resource: PODS,
      selectorText: this.#selector.text,
      guard,
    };
    const owned = await carryOutClaims(this.#run, pass, { ...claims, adopt });
    for (const { uid } of adopt) this.#adopted.add(uid);
    const going = podControl.deleting(this.#set.metadata.uid);
    return targets.place([...owned, ...adopted], going);
  }

  /** Announces and expects everything first; creations that fail don't keep deletions back. */
  async #syncPods({
    create,
    remove,
    hash,
  }: Extract<Action, { kind: 'syncPods' }>): Promise<undefined> {
    const { expectations, podControl } = this.#ports;
    const victims = remove.map(({ pod, because }) => ({ record: pod.record, because }));
    const podKeys = victims.map(({ record }) => record.key);
    expectations.expect(this.#key, this.#set.metadata.uid, create.length, podKeys);
    const errors: Error[] = [];
    if (create.length > 0) {
      const pods = this.#creations(create, hash);
      const made = await podControl.createPods(this.#run, this.#set, this.#key, pods);
      for (const _ of made.notDone) expectations.creationObserved(this.#key);
      if (made.error !== undefined) errors.push(asAnswer(made.error));
    }
    if (victims.length > 0) {
      const gone = await podControl.deletePods(this.#run, this.#set, victims);
      for (const podKey of gone.notDone) expectations.deletionObserved(this.#key, podKey);
      if (gone.error !== undefined) errors.push(asAnswer(gone.error));
    }
    if (errors.length > 0) throw together(errors);
    return undefined;
  }

  #creations(create: Extract<Action, { kind: 'syncPods' }>['create'], hash: string): PodCreation[] {
    const { name, uid } = this.#set.metadata;
    const owner = { apiVersion: apiVersionOf(DAEMON_SETS), kind: DAEMON_SETS.kind, name, uid };
    const template = podTemplate(this.#set, hash);
    return create.map(({ node, because }) => ({
      namespace: this.#namespace,
      owner,
      template: pinnedTemplate(template, node),
      generateName: generateNameFor(name),
      slot: node,
      ofSlot: (pod) => (pod.spec?.nodeName || pinnedNode(pod)) === node,
      because: `node ${node}: ${because}`,
    }));
  }

  async #relabel({
    pod,
    hash,
    because,
  }: Extract<Action, { kind: 'relabelPod' }>): Promise<KubeObject> {
    const { name, uid } = pod.record;
    const body = { metadata: { uid, labels: { [HASH_LABEL]: hash } } };
    const at = { namespace: this.#namespace, name };
    return await this.#run.client.patch(PODS, at, 'merge', body, { because, guard: this.#guard });
  }

  async #fetchSet(): Promise<DaemonSet> {
    const { name } = this.#set.metadata;
    const at = { namespace: this.#namespace, name };
    return await this.#run.client.get<DaemonSet>(DAEMON_SETS, at);
  }

  async #putStatus(base: DaemonSet, status: DaemonSetStatus, because: string): Promise<DaemonSet> {
    const { name } = this.#set.metadata;
    const at = { namespace: this.#namespace, name, subresource: 'status' };
    const typed = { apiVersion: apiVersionOf(DAEMON_SETS), kind: DAEMON_SETS.kind };
    const body = { ...base, ...typed, status };
    const options = { because, guard: this.#guard };
    return await this.#run.client.update<DaemonSet>(DAEMON_SETS, at, body, options);
  }

  /** A failed write is tried once more over a live read of the same set, other fields as found. */
  async #updateStatus(status: DaemonSetStatus, because: string): Promise<DaemonSet> {
    const put = (base: DaemonSet) => this.#putStatus(base, { ...base.status, ...status }, because);
    try {
      return await put(this.#set);
    } catch (error) {
      if (error instanceof FencedError) throw error;
      const live = await this.#fetchSet();
      if (live.metadata.uid !== this.#set.metadata.uid) throw error;
      return await put(live);
    }
  }
}

function patchOf(patch: { readonly revision: number } | { readonly hash: string }) {
  return 'hash' in patch ? { labels: { [HASH_LABEL]: patch.hash } } : patch;
}
