/** One sync of an autoscaler: read the target's size, ask the metrics, scale, write the status. */
import { FencedError, isDefiniteAnswer } from '../../api/errors.ts';
import type { HorizontalPodAutoscaler } from '../../api/types/index.ts';
import type { EventRecorder, SyncRun } from '../../runtime/controller.ts';
import type { Lister } from '../../runtime/informer/types.ts';
import type { Logger } from '../../runtime/log.ts';
import { wasCutOff } from '../_kit/cut-off.ts';
import type { Kinds } from '../_kit/scale/kinds.ts';
import { type Scales, scaleSelector } from '../_kit/scale/scales.ts';
import { textOf } from '../_kit/scale/words.ts';
import { BELOW_MIN, normalize, normalizeByRules, plan, rescaleReason } from './decide.ts';
import { Draft } from './draft.ts';
import {
  type History,
  settlePending,
  withInitial,
  withoutPending,
  withPending,
  withScaleEvent,
} from './history.ts';
import { direction, type MeasureDeps, measure, Unmeasured } from './measure.ts';
import type { Pasts } from './memory.ts';
import type { Result } from './monitor.ts';
import { rescale } from './rescale.ts';
import { type FullRules, longestPeriod, rulesOf } from './rules.ts';
import type { MetricStatus } from './status.ts';
import { AutoscaleProblem, findTarget, SpecProblem, type Target, targetName } from './target.ts';

/** What syncs work with. */
export interface AutoscalerDeps extends MeasureDeps {
  readonly autoscalers: Lister<HorizontalPodAutoscaler>;
  readonly pasts: Pasts;
  readonly kinds: Kinds;
  readonly scales: Scales;
  readonly events: EventRecorder;
  readonly log: Logger;
  /** --horizontal-pod-autoscaler-downscale-stabilization */
  readonly downWindowMs: number;
  /** Feature gate HPAScaleToZero. */
  readonly mayScaleToZero: boolean;
}

/** What a sync came to; `problem` is told once everything is done. */
interface Outcome {
  readonly action: Result['action'];
  readonly problem?: Error;
}

/** The size that is wanted, and why. */
interface Decision {
  readonly desired: number;
  readonly reason: string;
  readonly rescale: boolean;
  readonly history: History;
  readonly metrics?: readonly MetricStatus[];
  readonly problem?: Error;
}

/** What a sync knows once it has read the target. */
interface Seen {
  readonly draft: Draft;
  readonly run: SyncRun;
  readonly target: Target;
  readonly current: number;
  readonly history: History;
  readonly min: number;
  readonly max: number;
  readonly rules: FullRules | undefined;
}

/** Syncs autoscalers; different ones may be under way together. */
export class AutoscalerSync {
  readonly #deps: AutoscalerDeps;

  constructor(deps: AutoscalerDeps) {
    this.#deps = deps;
  }

  /** Scales the target of one autoscaler if its metrics say so. Throws why it could not. */
  async reconcile(cached: HorizontalPodAutoscaler, run: SyncRun): Promise<void> {
    const { clock, monitor, events } = this.#deps;
    const startedAt = clock.monotonic();
    const draft = new Draft(cached, events, run);
    let result: Result | undefined = { action: 'none', error: 'internal' };
    try {
      const { action, problem } = await this.#autoscale(draft, run);
      result = { action, error: problem === undefined ? 'none' : 'internal' };
      if (problem !== undefined) throw problem;
    } catch (error) {
      if (wasCutOff(run, error)) result = undefined;
      else if (error instanceof SpecProblem) result = { action: 'none', error: 'spec' };
      throw error;
    } finally {
      if (result !== undefined) monitor.reconciled(result, clock.monotonic() - startedAt);
    }
  }

  async #autoscale(draft: Draft, run: SyncRun): Promise<Outcome> {
    const { autoscaler } = draft;
    const { clock, pasts } = this.#deps;
    const target = await this.#target(draft, run);
    const current = target.scale.spec?.replicas ?? 0;
    const { spec, metadata } = autoscaler;
    const key = `${metadata.namespace}/${metadata.name}`;
    const past = pasts.get(key, metadata.uid).history;
    const settled = settlePending(past, current);
    const seen: Seen = {
      draft,
      run,
      target,
      current,
      history: withInitial(settled, current, clock.monotonic()),
      min: spec?.minReplicas ?? 1,
      max: spec?.maxReplicas ?? 0,
      rules: spec?.behavior ? rulesOf(spec.behavior, this.#deps.downWindowMs) : undefined,
    };
    this.#remember(seen, seen.history);
    const decision = await this.#decide(seen);
    const history = decision.rescale ? await this.#rescale(seen, decision) : decision.history;
    this.#remember(seen, history);
    return await this.#conclude(seen, decision);
  }

  /** The target and its scale; if it can't be read the status says why. */
  async #target(draft: Draft, run: SyncRun): Promise<Target> {
    try {
      const target = await findTarget(this.#deps, run, draft.autoscaler);
      draft.say({
        type: 'AbleToScale',
        status: 'True',
        reason: 'SucceededGetScale',
        message: "the HPA controller was able to get the target's current scale",
      });
      return target;
    } catch (error) {
      if (run.signal.aborted) throw error;
      const problem = textOf(error);
      draft.warn('FailedGetScale', problem);
      draft.say({
        type: 'AbleToScale',
        status: 'False',
        reason: 'FailedGetScale',
        message: `the HPA controller was unable to get the target's current scale: ${problem}`,
      });
      await this.#writeAfterFailure(draft);
      if (error instanceof SpecProblem) {
        throw new SpecProblem(`invalid API version in scale target reference: ${problem}`);
      }
      const name = targetName(draft.autoscaler);
      throw new AutoscaleProblem(`failed to query scale subresource for ${name}: ${problem}`);
    }
  }

  async #decide(seen: Seen): Promise<Decision> {
    const { draft, current, history, min, max } = seen;
    const { mayScaleToZero } = this.#deps;
    const metrics = draft.autoscaler.spec?.metrics ?? [];
    const hasOutsideMetric = metrics.some(({ type }) => type === 'Object' || type === 'External');
    const wasZeroed = draft.conditions.some(
      ({ type, status }) => type === 'ScaledToZero' && status === 'True',
    );
    const scaledToZero = mayScaleToZero && wasZeroed;
    const next = plan(current, { min, max }, { scaledToZero, hasOutsideMetric });
    if (next.do === 'clamp') {
      return { desired: next.replicas, reason: next.reason, rescale: true, history };
    }
    if (next.do === 'measure') return await this.#measured(seen, scaledToZero);
    draft.say({
      type: 'ScalingActive',
      status: 'False',
      reason: 'ScalingDisabled',
      message: 'scaling is disabled since the replica count of the target is zero',
    });
    if (!mayScaleToZero) draft.unsay('ScaledToZero');
    return { desired: 0, reason: '', rescale: false, history };
  }

  /** What the metrics ask for, held back by windows, rates and bounds. */
  async #measured(seen: Seen, scaledToZero: boolean): Promise<Decision> {
    const { draft, run, target, current, history, min, max, rules } = seen;
    const { clock, downWindowMs } = this.#deps;
    let measured: Awaited<ReturnType<typeof measure>>;
    try {
      measured = await measure(this.#deps, run, draft, target.scale);
    } catch (error) {
      if (error instanceof Unmeasured) await this.#unmeasured(seen, error);
      throw error;
    }
    const { metric, statuses: metrics, problem } = measured;
    // A metric below zero asks for nothing.
    const wanted = Math.max(0, measured.replicas);
    const wish = { current, wanted, min, max };
    const now = clock.monotonic();
    const normalized =
      rules === undefined
        ? normalize(wish, history, now, downWindowMs)
        : normalizeByRules(wish, rules, history, now);
    draft.say({ type: 'AbleToScale', status: 'True', ...normalized.able });
    draft.say({ type: 'ScalingLimited', ...normalized.limited });
    const mustWake = current === 0 && scaledToZero && normalized.replicas < min;
    const desired = mustWake ? min : normalized.replicas;
    const reason = rescaleReason(current, wanted, metric) || (mustWake ? BELOW_MIN : '');
    const more = problem === undefined ? {} : { problem };
    const rescaled = desired !== current;
    return { desired, reason, rescale: rescaled, history: normalized.history, metrics, ...more };
  }

  async #unmeasured({ draft, current }: Seen, error: Unmeasured): Promise<never> {
    draft.showFailed(current, error.statuses);
    await this.#writeAfterFailure(draft);
    draft.warn('FailedComputeMetricsReplicas', error.message);
    const name = targetName(draft.autoscaler);
    const what = 'failed to compute desired number of replicas based on listed metrics';
    throw new AutoscaleProblem(`${what} for ${name}: ${error.message}`);
  }

  /**
   * Sends the new size. With `behavior` the change is remembered before it is sent: rates hold even
   * if this process dies in between. Gives the history with the change.
   */
  async #rescale(seen: Seen, { desired, reason, history, metrics }: Decision): Promise<History> {
    const { draft, run, target, current, rules } = seen;
    const way = desired > current ? rules?.up : rules?.down;
    const pending = way && {
      from: current,
      to: desired,
      at: this.#deps.clock.monotonic(),
      longestSeconds: longestPeriod(way),
    };
    if (pending !== undefined) this.#remember(seen, withPending(history, pending));
    const because = `${reason}: from ${current} to ${desired} replicas`;
    try {
      await rescale(this.#deps, run, target, { replicas: desired, because });
    } catch (error) {
      if (error instanceof FencedError || isDefiniteAnswer(error)) {
        this.#remember(seen, withoutPending(history));
      }
      if (error instanceof FencedError || run.signal.aborted) throw error;
      return await this.#notRescaled(seen, { desired, reason, metrics }, textOf(error));
    }
    draft.say({
      type: 'AbleToScale',
      status: 'True',
      reason: 'SucceededRescale',
      message: `the HPA controller was able to update the target scale to ${desired}`,
    });
    draft.tell('SuccessfulRescale', `New size: ${desired}; reason: ${reason}`);
    this.#sayZero(seen, desired);
    return pending === undefined ? history : withScaleEvent(history, pending);
  }

  async #notRescaled(
    { draft, current }: Seen,
    { desired, reason, metrics }: Pick<Decision, 'desired' | 'reason' | 'metrics'>,
    problem: string,
  ): Promise<never> {
    draft.warn('FailedRescale', `New size: ${desired}; reason: ${reason}; error: ${problem}`);
    draft.say({
      type: 'AbleToScale',
      status: 'False',
      reason: 'FailedUpdateScale',
      message: `the HPA controller was unable to update the target scale: ${problem}`,
    });
    draft.showFailed(current, metrics);
    await this.#writeAfterFailure(draft);
    throw new AutoscaleProblem(`failed to rescale ${targetName(draft.autoscaler)}: ${problem}`);
  }

  #sayZero({ draft, current, min }: Seen, desired: number): void {
    if (!this.#deps.mayScaleToZero) {
      draft.unsay('ScaledToZero');
      return;
    }
    const metrics = draft.autoscaler.spec?.metrics ?? [];
    const isOurs =
      current > 0 &&
      desired === 0 &&
      min === 0 &&
      metrics.some(({ type }) => type === 'Object' || type === 'External');
    draft.say({
      type: 'ScaledToZero',
      status: isOurs ? 'True' : 'False',
      reason: isOurs ? 'ScaledToZero' : 'NotScaledToZero',
      message: isOurs
        ? 'the HPA controller scaled the workload to zero'
        : 'the HPA controller did not scale the workload to zero',
    });
  }

  async #conclude({ draft, current }: Seen, decision: Decision): Promise<Outcome> {
    const { rescale: rescaled, metrics, problem } = decision;
    const desired = rescaled ? decision.desired : current;
    draft.show({ current, desired, metrics, rescaled });
    const { namespace = '', name } = draft.autoscaler.metadata;
    this.#deps.monitor.desired(namespace, name, desired);
    const action = rescaled ? direction(desired, current) : 'none';
    try {
      await draft.write();
    } catch (error) {
      // The target was scaled all the same: only that may be counted.
      if (error instanceof AutoscaleProblem) return { action, problem: error };
      throw error;
    }
    return { action, ...(problem === undefined ? {} : { problem }) };
  }

  #remember({ draft, target, rules }: Seen, history: History): void {
    const { pasts, downWindowMs } = this.#deps;
    const { namespace, name, uid } = draft.autoscaler.metadata;
    const lookBacks = rules
      ? [rules.up, rules.down].map((way) => Math.max(way.windowSeconds, longestPeriod(way)) * 1_000)
      : [downWindowMs];
    const past = { history, selector: scaleSelector(target.scale) };
    pasts.set(`${namespace}/${name}`, uid, past, Math.max(...lookBacks));
  }

  /** The sync fails for another reason: that its status can't be written is only logged. */
  async #writeAfterFailure(draft: Draft): Promise<void> {
    try {
      await draft.write();
    } catch (error) {
      if (error instanceof FencedError) throw error;
      const { namespace, name } = draft.autoscaler.metadata;
      this.#deps.log.error('The status could not be written', error, {
        key: `${namespace}/${name}`,
      });
    }
  }
}
