/**
 * What must hold at every step, checked from the server's side: no pod more than was asked for, none
 * taken away that should live, Jobs counted exactly. A controller may act on a cache that lags, so
 * what was asked for is taken over the time that any cache may still have been at.
 */
import { JOB_TRACKING_FINALIZER } from '../../src/api/job.ts';
import { controllerOf } from '../../src/api/meta.ts';
import {
  DAEMON_SETS,
  JOBS,
  NODES,
  PODS,
  REPLICA_SETS,
  type Resource,
  resourceId,
  STATEFUL_SETS,
} from '../../src/api/resource.ts';
import type { KubeObject } from '../../src/api/types/index.ts';
import type { Obj } from '../rig/api.ts';
import { type Change, keyOf, type ModelApi } from './api-model.ts';

const PODS_ID = resourceId(PODS);
const INDEX = 'batch.kubernetes.io/job-completion-index';

/** One thing that must hold and did not. */
export class Violation extends Error {}

/** What was asked for at which times, and what became of the pods of one owner. */
interface Account {
  /** Model time and the specs since then, newest last. */
  readonly specs: { readonly at: number; readonly spec: Obj['spec']; readonly going: boolean }[];
  /** Pods (UID) that live: not going, not over. */
  readonly live: Map<string, Obj>;
  readonly names: Set<string>;
  /**
   * Pods (UID) whose request was late: their name had been there, made by a second attempt, and was
   * gone by then; or it was sent by somebody whom nobody remembers. Nobody can prevent that; they
   * are surplus.
   */
  readonly late: Set<string>;
  /** Times at which a pod was lost otherwise than by our deletion. */
  readonly lost: number[];
  /** Pods that ever reached the phase, by UID. */
  readonly succeeded: Set<string>;
  /** Those of them that nobody had begun to delete: a pod on its way out may have been replaced. */
  readonly done: Set<string>;
  /** Pods (UID) that failed or were taken away by others while they lived. */
  readonly failed: Set<string>;
  /** Newest status. */
  status: Obj['status'];
}

const OWNERS: readonly Resource[] = [REPLICA_SETS, JOBS, STATEFUL_SETS, DAEMON_SETS];
const OWNER_IDS = new Set(OWNERS.map(resourceId));

/** The pods that live and were meant to. */
function counted({ live, late }: Account): Obj[] {
  return [...live.values()].filter(({ metadata }) => !late.has(metadata.uid));
}

function countLive(account: Account): number {
  return counted(account).length;
}

function ownerUid(pod: Obj): string | undefined {
  return controllerOf(pod as unknown as KubeObject)?.uid;
}

function isOver(pod: Obj): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}

function lives(pod: Obj): boolean {
  return pod.metadata.deletionTimestamp === undefined && !isOver(pod);
}

export class Ledger {
  readonly #api: ModelApi;
  readonly #accounts = new Map<string, Account>();
  /** Time to which the oldest cache that may be decided on goes back. */
  readonly #cachesFrom: () => number;
  readonly #nodesChanged: number[] = [];
  /** Names of pods whose creation was asked for, and how often all was forgotten before the last time. */
  readonly #asked = new Map<string, number>();
  #forgotten = 0;
  /** Pods that were created by controllers, and deleted. */
  created = 0;
  deleted = 0;

  constructor(api: ModelApi, cachesFrom: () => number) {
    this.#api = api;
    this.#cachesFrom = cachesFrom;
    api.onChange((change) => this.#note(change));
  }

  /** The creation of this pod is on its way. */
  asked(name: string): void {
    this.#asked.set(name, this.#forgotten);
  }

  /**
   * From now on somebody leads who doesn't know what was on its way: another one led in between, or
   * the power went, and what was written last with it.
   */
  forgets(): void {
    this.#forgotten++;
  }

  #note(change: Change): void {
    if (change.resource === PODS_ID) this.#notePod(change);
    else if (OWNER_IDS.has(change.resource)) this.#noteOwner(change);
    else if (change.resource === resourceId(NODES)) this.#nodesChanged.push(change.at);
  }

  #account(uid: string): Account {
    const known = this.#accounts.get(uid);
    if (known !== undefined) return known;
    const made: Account = {
      specs: [],
      live: new Map(),
      names: new Set(),
      late: new Set(),
      lost: [],
      succeeded: new Set(),
      done: new Set(),
      failed: new Set(),
      status: {},
    };
    this.#accounts.set(uid, made);
    return made;
  }

  #noteOwner({ at, type, object }: Change): void {
    const { uid, deletionTimestamp } = object.metadata;
    const account = this.#account(uid);
    const going = type === 'DELETED' || deletionTimestamp !== undefined;
    account.specs.push({ at, spec: object.spec, going });
    account.status = object.status;
    if (object.kind === 'Job' && type !== 'DELETED') this.#checkCounts(object, account);
    const from = this.#cachesFrom();
    while (account.specs.length > 1 && account.specs[1]!.at < from) account.specs.shift();
    while (account.lost.length > 0 && account.lost[0]! < from) account.lost.shift();
  }

  /** Every spec that somebody may still decide on. */
  #specs({ specs }: Account): Account['specs'] {
    const from = this.#cachesFrom();
    const first = specs.findLastIndex(({ at }) => at <= from);
    return specs.slice(Math.max(0, first));
  }

  #notePod(change: Change): void {
    const { object: pod, before, actor, type, at } = change;
    const uid = ownerUid(pod);
    if (uid === undefined) return;
    const account = this.#account(uid);
    const { phase } = pod.status ?? {};
    if (phase === 'Succeeded') {
      account.succeeded.add(pod.metadata.uid);
      const { deletionTimestamp, finalizers = [] } = (before ?? pod).metadata;
      // A pod that the Job has let go, e.g. when it was suspended, is counted no more, as upstream.
      const isOurs = deletionTimestamp === undefined && finalizers.includes(JOB_TRACKING_FINALIZER);
      if (before?.status?.phase !== 'Succeeded' && isOurs) account.done.add(pod.metadata.uid);
    }
    const lived = before !== undefined && lives(before);
    const alive = type !== 'DELETED' && lives(pod);
    if (alive) account.live.set(pod.metadata.uid, pod);
    else account.live.delete(pod.metadata.uid);
    if (type === 'ADDED' && actor === 'holdfast') {
      this.created++;
      const { name, uid: podUid } = pod.metadata;
      const isForgotten = (this.#asked.get(name) ?? 0) < this.#forgotten;
      const isLate = account.names.has(name) || isForgotten;
      account.names.add(name);
      const named = controllerOf(pod as unknown as KubeObject)?.kind === 'StatefulSet';
      if (isLate && !named) account.late.add(podUid);
      else this.#checkCreated(pod, account);
    }
    if (!lived || alive) return;
    if (actor === 'holdfast') {
      this.deleted++;
      this.#checkDeleted(before, account, at);
    } else {
      account.lost.push(at);
      if (phase !== 'Succeeded') account.failed.add(pod.metadata.uid);
    }
  }

  #checkCreated(pod: Obj, account: Account): void {
    const owner = controllerOf(pod as unknown as KubeObject)!;
    const specs = this.#specs(account);
    const live = countLive(account);
    const most = (field: string): number =>
      Math.max(0, ...specs.map(({ spec }) => spec[field] ?? 0));
    const complain = (what: string): never => {
      throw new Violation(`${owner.kind} ${owner.name} created ${keyOf(pod)}: ${what}`);
    };
    if (owner.kind === 'ReplicaSet' && live > most('replicas')) {
      complain(`${live} live pods, at most ${most('replicas')} were asked for`);
    }
    if (owner.kind === 'Job') this.#checkJobPod(pod, account, complain);
    if (owner.kind === 'DaemonSet') {
      const node = nodeOf(pod);
      const same = counted(account).filter((one) => nodeOf(one) === node);
      if (same.length > 1) complain(`${same.length} live pods for node ${node}`);
    }
    if (owner.kind === 'StatefulSet') {
      const ordinal = Number(pod.metadata.name.split('-').at(-1));
      if (ordinal >= most('replicas')) complain(`at most ${most('replicas')} were asked for`);
    }
  }

  #checkJobPod(pod: Obj, account: Account, complain: (what: string) => never): void {
    const specs = this.#specs(account);
    const live = countLive(account);
    const parallelism = Math.max(0, ...specs.map(({ spec }) => spec.parallelism ?? 1));
    if (live > parallelism) complain(`${live} live pods, parallelism ${parallelism}`);
    const { completions, completionMode } = specs.at(-1)?.spec ?? {};
    if (completionMode === 'Indexed') {
      const index = pod.metadata.annotations?.[INDEX];
      const same = counted(account).filter((one) => one.metadata.annotations?.[INDEX] === index);
      if (same.length > 1) complain(`${same.length} live pods for index ${index}`);
    } else if (live + account.done.size > completions) {
      const pods = counted(account).map((one) => one.metadata.name);
      complain(`live ${pods}, ${account.done.size} succeeded of ${completions}`);
    }
  }

  #checkDeleted(pod: Obj, account: Account, at: number): void {
    const owner = controllerOf(pod as unknown as KubeObject)!;
    const specs = this.#specs(account);
    const from = this.#cachesFrom();
    const live = account.live.size;
    if (specs.length === 0 || specs.some(({ going }) => going)) return;
    const lost = account.lost.filter((when) => when >= from && when <= at).length;
    const least = Math.min(...specs.map(({ spec }) => spec.replicas ?? 0));
    const complain = (what: string): never => {
      throw new Violation(`${owner.kind} ${owner.name} took ${keyOf(pod)} away: ${what}`);
    };
    if (owner.kind === 'ReplicaSet' && live + lost < least) {
      complain(`${live} live pods are left, ${lost} were lost, at least ${least} are asked for`);
    }
    const steady =
      specs.length === 1 || specs.every(({ spec }) => Bun.deepEquals(spec, specs[0]!.spec));
    const isNew = Date.parse(pod.metadata.creationTimestamp) > 0 && steady;
    if (owner.kind === 'Job' && isNew && live + lost < this.#jobWants(account)) {
      complain(`${live} live pods are left of ${this.#jobWants(account)}, ${lost} were lost`);
    }
    const nodesSteady = !this.#nodesChanged.some((when) => when >= from);
    if (owner.kind === 'DaemonSet' && steady && nodesSteady)
      this.#checkRevision(pod, owner.name, complain);
    if (owner.kind === 'StatefulSet' && steady) {
      const ordinal = Number(pod.metadata.name.split('-').at(-1));
      if (ordinal < least) this.#checkRevision(pod, owner.name, complain);
    }
  }

  /** A pod that is as its set wants it is not replaced. */
  #checkRevision(pod: Obj, set: string, complain: (what: string) => never): void {
    const image = pod.spec.containers[0].image;
    const owner = [...this.#api.all(DAEMON_SETS), ...this.#api.all(STATEFUL_SETS)].find(
      ({ metadata }) => metadata.name === set,
    );
    if (owner?.spec.template.spec.containers[0].image !== image) return;
    complain(`it runs on ${nodeOf(pod)} what its set wants, ${image}`);
  }

  #jobWants({ specs, status, succeeded, failed }: Account): number {
    const { spec } = specs.at(-1)!;
    const ending = (status?.conditions ?? []).length > 0 || spec.suspend === true;
    if (ending || failed.size > spec.backoffLimit) return 0;
    return Math.min(spec.parallelism ?? 1, Math.max(0, spec.completions - succeeded.size));
  }

  /** A Job never counts a pod that did not end so, nor one twice. */
  #checkCounts({ metadata, status }: Obj, { succeeded }: Account): void {
    const counted = status?.succeeded ?? 0;
    if (counted > succeeded.size) {
      throw new Violation(
        `Job ${metadata.name} counts ${counted} succeeded pods of ${succeeded.size}`,
      );
    }
  }

  /** Pods of a Job that succeeded so far. */
  succeededOf(uid: string): number {
    return this.#accounts.get(uid)?.succeeded.size ?? 0;
  }
}

function nodeOf(pod: Obj): string {
  const terms =
    pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
      ?.nodeSelectorTerms ?? [];
  return terms[0]?.matchFields?.[0]?.values?.[0] ?? pod.spec.nodeName ?? '';
}
