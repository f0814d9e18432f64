/** Asks all metrics of an autoscaler: the one that wants most decides. */

import { repeatedMatch, type Selector } from '../../api/selector.ts';
import { parseSelector } from '../../api/selector-parse.ts';
import type { HorizontalPodAutoscaler, Pod } from '../../api/types/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { SyncRun } from '../../runtime/controller.ts';
import type { Lister, PodRecord } from '../../runtime/informer/types.ts';
import { type Scale, scaleSelector } from '../_kit/scale/scales.ts';
import type { MetricComputer, MetricSpec, Scaled } from './compute.ts';
import type { Draft } from './draft.ts';
import { MetricFailure, UNKNOWN_TYPE } from './metric-words.ts';
import type { Monitor, Result } from './monitor.ts';
import type { Tolerances } from './proposal.ts';
import type { TargetSelectors } from './selectors.ts';
import type { MetricStatus, Statement } from './status.ts';
import { AutoscaleProblem } from './target.ts';

/** What measuring needs. */
export interface MeasureDeps {
  readonly computer: MetricComputer;
  readonly selectors: TargetSelectors;
  readonly pods: Lister<Pod, PodRecord>;
  readonly monitor: Monitor;
  readonly clock: Clock;
  tolerancesOf(autoscaler: HorizontalPodAutoscaler): Tolerances;
}

/** What the metrics say together. */
export interface Measured {
  readonly replicas: number;
  /** Of the metric that decided. */
  readonly metric: string;
  readonly statuses: readonly MetricStatus[];
  /** Some metrics said nothing, and it didn't matter. */
  readonly problem?: Error;
}

/** The metrics say nothing that could be followed. */
export class Unmeasured extends Error {
  /** Of the metrics, undefined if none was asked. */
  readonly statuses: readonly MetricStatus[] | undefined;

  constructor(message: string, statuses?: readonly MetricStatus[]) {
    super(message);
    this.name = 'Unmeasured';
    this.statuses = statuses;
  }
}

/** What stands in the status for a metric that said nothing. */
const NO_STATUS: MetricStatus = Object.freeze({ type: '' });

/**
 * The proposals of all metrics. Throws Unmeasured for a target without a usable selector, if no
 * metric says anything, or if some say nothing and the others would scale down.
 */
export async function measure(
  deps: MeasureDeps,
  run: SyncRun,
  draft: Draft,
  scale: Scale,
): Promise<Measured> {
  const { autoscaler } = draft;
  const selector = targetSelector(deps, draft, scaleSelector(scale));
  const scaled: Scaled = {
    namespace: autoscaler.metadata.namespace ?? '',
    specReplicas: scale.spec?.replicas ?? 0,
    statusReplicas: scale.status?.replicas ?? 0,
    selector,
    tolerances: deps.tolerancesOf(autoscaler),
    signal: run.signal,
    now: run.now,
  };
  const specs = autoscaler.spec?.metrics ?? [];
  const statuses: MetricStatus[] = [];
  const failures: MetricFailure[] = [];
  let best: { readonly replicas: number; readonly metric: string } = { replicas: 0, metric: '' };
  for (const spec of specs) {
    const answer = await computeOne(deps, draft, scaled, spec);
    if (answer instanceof MetricFailure) {
      failures.push(answer);
      statuses.push(NO_STATUS);
      continue;
    }
    statuses.push(answer.status);
    if (best.replicas === 0 || answer.replicas > best.replicas) best = answer;
  }
  return conclude(draft, { best, statuses, failures, asked: specs.length, scaled });
}

function conclude(
  draft: Draft,
  {
    best,
    statuses,
    failures,
    asked,
    scaled,
  }: {
    readonly best: { readonly replicas: number; readonly metric: string };
    readonly statuses: readonly MetricStatus[];
    readonly failures: readonly MetricFailure[];
    readonly asked: number;
    readonly scaled: Scaled;
  },
): Measured {
  const [first] = failures;
  const invalid = `invalid metrics (${failures.length} invalid out of ${asked})`;
  const problem = first && new AutoscaleProblem(`${invalid}, first error is: ${first.message}`);
  const mustFail =
    failures.length >= asked || (failures.length > 0 && best.replicas < scaled.specReplicas);
  if (mustFail) {
    const message = `the HPA was unable to compute the replica count: ${first?.told}`;
    if (first !== undefined) draft.say(inactive(first.reason, message));
    throw new Unmeasured(problem?.message ?? invalid, statuses);
  }
  draft.say({
    type: 'ScalingActive',
    status: 'True',
    reason: 'ValidMetricFound',
    message: `the HPA was able to successfully calculate a replica count from ${best.metric}`,
  });
  return { ...best, statuses, ...(problem === undefined ? {} : { problem }) };
}

async function computeOne(
  { computer, monitor, clock }: MeasureDeps,
  draft: Draft,
  scaled: Scaled,
  spec: MetricSpec,
) {
  const startedAt = clock.monotonic();
  const observe = (result: Result): void =>
    monitor.computed(result, spec.type, clock.monotonic() - startedAt);
  try {
    const answer = await computer.compute(scaled, spec);
    const before = draft.autoscaler.status?.currentReplicas ?? 0;
    observe({ action: direction(answer.replicas, before), error: 'none' });
    return answer;
  } catch (error) {
    // What ends all syncs is no failure of a metric.
    if (scaled.signal.aborted || !(error instanceof MetricFailure)) throw error;
    observe({ action: 'none', error: error.reason === UNKNOWN_TYPE ? 'spec' : 'internal' });
    draft.warn(error.reason, error.told);
    return error;
  }
}

/** Which way a number of replicas goes from another. */
export function direction(wanted: number, current: number): Result['action'] {
  if (wanted > current) return 'scale_up';
  return wanted < current ? 'scale_down' : 'none';
}

/** The target's selector, noted for the others; nobody else may select its pods. */
function targetSelector({ selectors, pods }: MeasureDeps, draft: Draft, text: string): Selector {
  const { namespace = '', name } = draft.autoscaler.metadata;
  if (text === '') {
    const message = 'selector is required';
    draft.warn('SelectorRequired', message);
    draft.say(inactive('InvalidSelector', "the HPA target's scale is missing a selector"));
    throw new Unmeasured(message);
  }
  const { selector, problem } = parseSelector(text);
  if (selector === undefined) {
    const what = "couldn't convert selector into a corresponding internal selector object";
    const message = `${what}: ${problem}`;
    draft.warn('InvalidSelector', message);
    draft.say(inactive('InvalidSelector', message));
    throw new Unmeasured(message);
  }
  selectors.set(namespace, `${namespace}/${name}`, selector);
  const selected = pods.selected(namespace, repeatedMatch(selector));
  const selecting = selectors.selecting(namespace, selected);
  if (selecting.length <= 1) return selector;
  const all = `[${selecting.join(' ')}]`;
  const message = `pods by selector ${text} are controlled by multiple HPAs: ${all}`;
  draft.warn('AmbiguousSelector', message);
  draft.say(inactive('AmbiguousSelector', message));
  throw new Unmeasured(message);
}

function inactive(reason: string, message: string): Statement {
  return { type: 'ScalingActive', status: 'False', reason, message };
}
