/** One sync of a budget: count its pods, write the status; if that fails, allow nothing. */
import { ApiError, isConflict, TransportError } from '../../api/errors.ts';
import { apiVersionOf, POD_DISRUPTION_BUDGETS } from '../../api/resource.ts';
import { compileSelector, repeatedMatch } from '../../api/selector.ts';
import type { PodDisruptionBudget } from '../../api/types/index.ts';
import type { SyncRun, WorkQueue } from '../../runtime/controller.ts';
import type { Lister, PodRecord } from '../../runtime/informer/types.ts';
import type { Logger } from '../../runtime/log.ts';
import { referenceTo } from '../../runtime/pod-control.ts';
import { waitsForCaches } from '../_kit/caught-up.ts';
import { NoKindMatch } from '../_kit/scale/kinds.ts';
import { ScaleProblem } from '../_kit/scale/scales.ts';
import {
  type BudgetStatus,
  type Counts,
  countsOf,
  disruptedPods,
  failSafeStatus,
  healthyCount,
  needsScale,
  nextStatus,
} from './decide.ts';
import type { BudgetEvents } from './events.ts';
import { CountProblem, expectedScale, type ScaleSources } from './scale.ts';

/** What a sync works with. */
export interface BudgetSyncDeps {
  readonly budgets: Lister<PodDisruptionBudget>;
  readonly sources: ScaleSources;
  readonly events: BudgetEvents;
  readonly rechecks: WorkQueue;
  readonly log: Logger;
  /** False while a cache may be behind the server. */
  caughtUp(): boolean;
}

/** Syncs budgets one at a time. */
export class BudgetSync {
  readonly #deps: BudgetSyncDeps;

  constructor(deps: BudgetSyncDeps) {
    this.#deps = deps;
  }

  /**
   * Brings a budget's status up to date. What can't be worked out becomes a status that allows
   * nothing and isn't tried again; only conflicts, and a status that can't be written, are thrown.
   * Nothing is allowed for pods that may have stopped being healthy while nobody watched.
   */
  async reconcile(key: string, run: SyncRun): Promise<void> {
    const cached = this.#deps.budgets.get(key);
    if (cached === undefined) return;
    if (waitsForCaches(run, this.#deps.caughtUp)) return;
    const { kind } = POD_DISRUPTION_BUDGETS;
    const budget = { ...cached, apiVersion: apiVersionOf(POD_DISRUPTION_BUDGETS), kind };
    try {
      await this.#measure(budget, run);
    } catch (error) {
      if (isConflict(error) || !isAboutBudget(error)) throw error;
      this.#deps.log.error('The budget could not be worked out: it allows nothing', error, { key });
      const status = failSafeStatus(budget, error.message, run.now);
      await write(run, budget, status, `it could not be worked out: ${error.message}`);
    }
  }

  async #measure(budget: PodDisruptionBudget, run: SyncRun): Promise<void> {
    const { events, rechecks } = this.#deps;
    const { namespace = '', name } = budget.metadata;
    const pods = this.#pods(budget);
    const counts = await this.#counts(budget, run, pods);
    const disrupted = disruptedPods(pods, budget.status?.disruptedPods, run.now);
    for (const pod of disrupted.late) events.notDeleted(pod, namespace);
    const currentHealthy = healthyCount(pods, disrupted.pods, run.now);
    const measured = { ...counts, currentHealthy, disruptedPods: disrupted.pods };
    const status = nextStatus(budget, measured, run.now);
    if (status !== undefined) {
      const { desiredHealthy, expectedPods } = counts;
      const because =
        `${currentHealthy} of ${expectedPods} expected pods are healthy, ` +
        `${desiredHealthy} must be`;
      await write(run, budget, status, because);
    }
    if (disrupted.recheckInMs === undefined) return;
    const evicted = Object.keys(disrupted.pods).length;
    const because = `${evicted} evicted pods are not gone yet`;
    rechecks.addAfter(`${namespace}/${name}`, disrupted.recheckInMs, because);
  }

  #pods(budget: PodDisruptionBudget): readonly PodRecord[] {
    const { sources, events } = this.#deps;
    const { selector, problem } = compileSelector(budget.spec?.selector);
    if (selector === undefined) {
      events.podsUnknown(referenceTo(budget), problem);
      throw new CountProblem(problem);
    }
    const { namespace = '' } = budget.metadata;
    const pods = sources.pods.selected(namespace, repeatedMatch(selector));
    if (pods.length === 0) events.noPods(referenceTo(budget));
    return pods;
  }

  async #counts(
    budget: PodDisruptionBudget,
    run: SyncRun,
    pods: readonly PodRecord[],
  ): Promise<Counts> {
    const { sources, events } = this.#deps;
    const spec = budget.spec ?? {};
    try {
      const scale = needsScale(spec) ? await expectedScale(sources, run, pods) : undefined;
      const counts = countsOf(spec, pods.length, scale?.replicas ?? 0);
      if ('problem' in counts) throw new CountProblem(counts.problem);
      if (scale !== undefined && scale.unmanaged.length > 0) {
        events.unmanaged(referenceTo(budget), spec.selector);
      }
      return counts;
    } catch (error) {
      if (isAboutBudget(error)) events.countFailed(referenceTo(budget), error.message);
      throw error;
    }
  }
}

/** Errors that say something about this budget, and not about this process. */
function isAboutBudget(error: unknown): error is Error {
  return [ApiError, TransportError, NoKindMatch, ScaleProblem, CountProblem].some(
    (kind) => error instanceof kind,
  );
}

async function write(
  run: SyncRun,
  budget: PodDisruptionBudget,
  status: BudgetStatus,
  because: string,
): Promise<void> {
  const { namespace, name } = budget.metadata;
  const at = { namespace, name, subresource: 'status' };
  await run.client.update(
    POD_DISRUPTION_BUDGETS,
    at,
    { ...budget, status },
    { because, metadataOnly: true },
  );
}
