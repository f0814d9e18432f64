/** One sync of a ReplicaSet: observe, claim, create or delete, write the status. */
import { keyOf } from '../../../api/meta.ts';
import { apiVersionOf, PODS } from '../../../api/resource.ts';
import { compileSelector } from '../../../api/selector.ts';
import type { KubeObject } from '../../../api/types/index.ts';
import { carryOutClaims, decideClaims } from '../../../runtime/claim.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { SyncRun } from '../../../runtime/controller.ts';
import type { PodRecord } from '../../../runtime/informer/types.ts';
import type { Logger } from '../../../runtime/log.ts';
import { StaleCache } from '../../../runtime/requeue.ts';
import { createPods, deletePods, type ReplicaPorts, writeStatus } from './act.ts';
import { type Choice, chooseForDeletion } from './choose.ts';
import { planReplicas, type ReplicaPlan } from './decide.ts';
import type { AgeRatios } from './metrics.ts';
import { type Observed, observe, type ReplicaCaches, siblingsPerNode } from './observe.ts';
import { decideStatus } from './status.ts';

/** Everything a sync works with. */
export interface ReplicaSyncDeps<T extends KubeObject> extends ReplicaPorts<T>, ReplicaCaches<T> {
  readonly clock: Clock;
  readonly log: Logger;
  readonly reportAges: AgeRatios;
  /** Feature gate PodDeletionCost. */
  readonly useDeletionCost: boolean;
  /** Whether the status counts terminating pods. */
  readonly countTerminating: boolean;
  caughtUp(ownerKey: string, ownerUid: string): boolean;
}

/** What came of creating or deleting. */
interface Managed {
  readonly verb: ReplicaPlan['verb'];
  readonly error?: unknown;
}

const NOT_MANAGED: Managed = { verb: 'none' };

/** Syncs ReplicaSets one key at a time; different keys may be under way together. */
export class ReplicaSync<T extends KubeObject> {
  readonly #deps: ReplicaSyncDeps<T>;
  /** The server answered a status write without terminatingReplicas: it does not know the field. */
  #terminatingDropped = false;

  constructor(deps: ReplicaSyncDeps<T>) {
    this.#deps = deps;
  }

  /** Brings one ReplicaSet's pods and status up to date. Throws what should be tried again. */
  async reconcile(key: string, run: SyncRun): Promise<void> {
    const { owners, kind, expectations, guard, caughtUp, log } = this.#deps;
    const uid = owners.record(key)?.uid;
    if (uid !== undefined && guard && !caughtUp(key, uid)) {
      throw new StaleCache(`the caches have not reached the last write made for ${key}`);
    }
    const cached = uid === undefined ? undefined : owners.get(key);
    if (cached === undefined) {
      expectations.forget(key);
      return;
    }
    const { resource } = kind;
    const object = { ...cached, apiVersion: apiVersionOf(resource), kind: resource.kind };
    const set = kind.view(object);
    const satisfied = expectations.satisfied(key, uid);
    const { selector, problem } = compileSelector(set.spec?.selector);
    if (selector === undefined) {
      log.error('The pod selector is invalid: nothing is done', problem, { key });
      run.note(`spec.selector: ${problem}`);
      return;
    }
    const seen = observe(this.#deps, object, set, selector);
    const pods = await this.#claim(run, seen);
    const managed = await this.#manage(run, seen, pods, satisfied);
    await this.#updateStatus(run, seen, pods, managed);
  }

  async #claim(run: SyncRun, { set, selector, candidates }: Observed<T>) {
    const { uid, name, namespace = '', deletionTimestamp } = set.metadata;
    const owner = { uid, name, namespace, deleting: deletionTimestamp !== undefined };
    const pass = {
      owner,
      ownerResource: this.#deps.kind.resource,
      resource: PODS,
      selectorText: selector.text,
      guard: this.#deps.guard,
    };
    const matches = selector.matches;
    return carryOutClaims(run, pass, decideClaims({ owner, matches, candidates }));
  }

  async #manage(
    run: SyncRun,
    seen: Observed<T>,
    pods: readonly PodRecord[],
    satisfied: boolean,
  ): Promise<Managed> {
    const { set } = seen;
    if (set.metadata.deletionTimestamp !== undefined) return NOT_MANAGED;
    if (!satisfied) {
      run.note('earlier creations or deletions are not all seen yet: only the status is written');
      return NOT_MANAGED;
    }
    const wanted = set.spec?.replicas ?? 1;
    const plan = planReplicas({ wanted, active: pods.length });
    if (plan.verb === 'none') return NOT_MANAGED;
    run.note(plan.because);
    this.#log(seen, plan);
    const error =
      plan.verb === 'create'
        ? await createPods(this.#deps, run, seen, plan)
        : await this.#deleteSurplus(run, seen, pods, plan.count, pods.length - wanted);
    return { verb: plan.verb, error };
  }

  /**
   * Deletions that were announced and got no answer go first among those still due: sent again,
   * they hit the same pods or none. Nothing is deleted that is wanted by now.
   */
  #unanswered({ set }: Observed<T>, pods: readonly PodRecord[]): Choice<PodRecord>[] {
    const announced = this.#deps.podControl.deleting(set.metadata.uid);
    if (announced.size === 0) return [];
    return pods
      .filter((pod) => announced.has(pod.uid))
      .map((pod) => ({ pod, because: 'its deletion was announced and got no answer' }));
  }

  async #deleteSurplus(
    run: SyncRun,
    seen: Observed<T>,
    pods: readonly PodRecord[],
    count: number,
    surplus: number,
  ): Promise<unknown> {
    const { clock, useDeletionCost: useCost, reportAges } = this.#deps;
    const unanswered = this.#unanswered(seen, pods).slice(0, count);
    if (unanswered.length > 0) return deletePods(this.#deps, run, seen, unanswered);
    const ordered = count < pods.length;
    const siblings = ordered ? siblingsPerNode(this.#deps, seen.set) : new Map<string, number>();
    const now = clock.now();
    const chosen = chooseForDeletion({ pods, count, surplus, siblings, now, useCost });
    const victims = chosen.map(({ pod }) => pod);
    if (ordered) reportAges(pods, victims, now);
    return deletePods(this.#deps, run, seen, chosen);
  }

  async #updateStatus(
    run: SyncRun,
    seen: Observed<T>,
    pods: readonly PodRecord[],
    { verb, error }: Managed,
  ): Promise<void> {
    const { set, terminating } = seen;
    const { countTerminating, clock } = this.#deps;
    const decision = decideStatus({
      current: set.status,
      generation: set.metadata.generation ?? 0,
      minReadySeconds: set.spec?.minReadySeconds ?? 0,
      templateLabels: set.spec?.template?.metadata?.labels ?? {},
      pods,
      terminating: countTerminating ? terminating : undefined,
      terminatingDropped: this.#terminatingDropped,
      failure: error === undefined ? undefined : { verb, message: messageOf(error) },
      now: clock.now(),
    });
    if (decision.changed) {
      const stored = await writeStatus(this.#deps, run, seen, decision.status, decision.because);
      const kept = this.#deps.kind.view(stored).status?.terminatingReplicas !== undefined;
      this.#terminatingDropped = countTerminating && !kept;
    }
    if (error !== undefined) throw error;
    if (decision.again !== undefined) run.again(decision.again.delayMs, decision.again.because);
  }

  #log({ set }: Observed<T>, plan: ReplicaPlan): void {
    const { log, kind } = this.#deps;
    if (!log.enabled(2)) return;
    const message = plan.verb === 'create' ? 'Too few replicas' : 'Too many replicas';
    const { count, verb } = plan;
    const need = set.spec?.replicas;
    const what = { kind: kind.resource.kind, key: keyOf(set.metadata), need };
    log.v(2).info(message, { ...what, [verb]: count });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
