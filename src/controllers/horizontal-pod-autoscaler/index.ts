/**
 * horizontal-pod-autoscaler-controller: changes the size of anything that has a scale so that its
 * metrics come to their targets. `decide.ts` says how windows, rates and bounds hold a wish back,
 * `proposal.ts` what a metric asks for, `history.ts` and `memory.ts` what is looked back on.
 */
import { splitKey } from '../../api/meta.ts';
import { HORIZONTAL_POD_AUTOSCALERS, PODS } from '../../api/resource.ts';
import type { HorizontalPodAutoscaler } from '../../api/types/index.ts';
import type {
  Controller,
  ControllerContext,
  ControllerDefinition,
  SyncRun,
} from '../../runtime/controller.ts';
import { NotYet } from '../../runtime/requeue.ts';
import { waitsForCaches } from '../_kit/caught-up.ts';
import { Kinds } from '../_kit/scale/kinds.ts';
import { Scales } from '../_kit/scale/scales.ts';
import { MetricComputer } from './compute.ts';
import { Pasts } from './memory.ts';
import { MetricsClient } from './metrics-client.ts';
import { createMonitor } from './monitor.ts';
import { PodFacts } from './pod-facts.ts';
import { TargetSelectors } from './selectors.ts';
import { type AutoscalerDeps, AutoscalerSync } from './sync.ts';
import { AutoscaleProblem } from './target.ts';
import { tolerancesOf } from './tolerances.ts';

const COMPONENT = 'horizontal-pod-autoscaler';
const WORKERS_FLAG = 'concurrent-horizontal-pod-autoscaler-syncs';
const PERIOD_FLAG = 'horizontal-pod-autoscaler-sync-period';
const DOWN_WINDOW_FLAG = 'horizontal-pod-autoscaler-downscale-stabilization';
const TOLERANCE_FLAG = 'horizontal-pod-autoscaler-tolerance';
const CPU_FLAG = 'horizontal-pod-autoscaler-cpu-initialization-period';
const READINESS_FLAG = 'horizontal-pod-autoscaler-initial-readiness-delay';

/** The passport of the horizontal pod autoscaler. */
export const horizontalPodAutoscalerController: ControllerDefinition = {
  name: 'horizontal-pod-autoscaler-controller',
  aliases: ['horizontalpodautoscaling'],
  gates: [],
  enabledByDefault: true,
  account: COMPONENT,
  watches: [HORIZONTAL_POD_AUTOSCALERS, PODS],
  writes: ['*/scale update', 'horizontalpodautoscalers/status update', 'events create/patch'],
  flags: [WORKERS_FLAG, PERIOD_FLAG, DOWN_WINDOW_FLAG, TOLERANCE_FLAG, CPU_FLAG, READINESS_FLAG],
  build,
};

function build(context: ControllerContext): Controller {
  const { informers, flags } = context;
  const autoscalers = informers.of<HorizontalPodAutoscaler>(HORIZONTAL_POD_AUTOSCALERS);
  const periodMs = Number(flags[PERIOD_FLAG]);
  const queue = context.queue('horizontalpodautoscaler');
  const deps = depsOf(context, periodMs);
  const { selectors, pasts, monitor } = deps;
  const wait = ({ key, namespace }: { key: string; namespace: string }): void => {
    queue.addAfter(key, periodMs, 'its metrics are looked at in a rhythm');
    selectors.add(namespace, key);
    monitor.known(selectors.count());
  };
  autoscalers.addHandler({
    add: wait,
    update: wait,
    delete: ({ key, namespace }) => {
      pasts.delete(key);
      selectors.delete(namespace, key);
      monitor.known(selectors.count());
    },
  });
  for (const { key, uid } of pasts.known()) {
    const { namespace } = splitKey(key);
    if (autoscalers.lister.record(key)?.uid !== uid) pasts.delete(key);
    else selectors.restore(namespace, key, pasts.get(key, uid).selector);
  }
  const caches = [autoscalers, informers.pods()];
  const caughtUp = (): boolean => caches.every((cache) => cache.caughtUp());
  const reconcile = reconciler(deps, periodMs, caughtUp);
  const workers = Number(flags[WORKERS_FLAG]);
  return { queues: [{ queue, workers, wishBeatsError: true, reconcile }] };
}

function depsOf(context: ControllerContext, periodMs: number): AutoscalerDeps {
  const { informers, flags, clock, log, client } = context;
  const pods = informers.pods().lister;
  const kinds = new Kinds(context);
  const facts = new PodFacts(pods, clock);
  const cpu = {
    initializationMs: Number(flags[CPU_FLAG]),
    readinessDelayMs: Number(flags[READINESS_FLAG]),
  };
  const computer = new MetricComputer({
    client: new MetricsClient(context, kinds, periodMs),
    pods,
    facts,
    cpu,
    usePodLevel: context.gate('PodLevelResources'),
  });
  const tolerance = Number(flags[TOLERANCE_FLAG]);
  const isConfigurable = context.gate('HPAConfigurableTolerance');
  return {
    autoscalers: informers.of<HorizontalPodAutoscaler>(HORIZONTAL_POD_AUTOSCALERS).lister,
    pods,
    kinds,
    scales: new Scales(kinds, client),
    selectors: new TargetSelectors(),
    pasts: new Pasts(context),
    computer,
    monitor: createMonitor(context.metrics),
    events: context.events(COMPONENT),
    clock,
    log,
    downWindowMs: Number(flags[DOWN_WINDOW_FLAG]),
    mayScaleToZero: context.gate('HPAScaleToZero'),
    tolerancesOf: ({ spec }) =>
      tolerancesOf(isConfigurable ? spec?.behavior : undefined, tolerance),
  };
}

/**
 * An autoscaler comes again each period, whatever comes of it. It looks at nothing while a cache
 * may be behind the server: with pods missing that are there, targets would be made too small.
 */
function reconciler(deps: AutoscalerDeps, periodMs: number, caughtUp: () => boolean) {
  const sync = new AutoscalerSync(deps);
  const problems = new Map<string, string>();
  return async (key: string, run: SyncRun): Promise<void> => {
    const autoscaler = deps.autoscalers.get(key);
    if (autoscaler === undefined) {
      problems.delete(key);
      // A sync that was under way when it went has noted its past once more.
      deps.pasts.delete(key);
      return;
    }
    if (waitsForCaches(run, caughtUp)) return;
    run.again(periodMs, 'its metrics are looked at in a rhythm');
    try {
      await sync.reconcile(autoscaler, run);
      problems.delete(key);
    } catch (error) {
      if (!(error instanceof AutoscaleProblem)) throw error;
      const { message } = error;
      // What went wrong the last time in the same way is neither logged nor journaled again.
      if (problems.get(key) === message) throw new NotYet(message);
      problems.set(key, message);
      throw error;
    }
  };
}
