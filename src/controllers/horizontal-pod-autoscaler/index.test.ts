import { describe, expect, test } from 'bun:test';
import { FencedError } from '../../api/errors.ts';
import { DAEMON_SETS, DEPLOYMENTS, HORIZONTAL_POD_AUTOSCALERS } from '../../api/resource.ts';
import type { HorizontalPodAutoscaler, KubeObject } from '../../api/types/index.ts';
import type { ControllerContext } from '../../runtime/controller.ts';
import { NotYet } from '../../runtime/requeue.ts';
import { fakeContext } from '../_kit/testing/fake-context.ts';
import { FakeRun, refusal } from '../_kit/testing/fake-run.ts';
import { podOf } from '../_kit/testing/objects.ts';
import { horizontalPodAutoscalerController } from './index.ts';

const NOW = Date.parse('2026-05-20T12:00:00Z');
const KEY = 'default/hpa';
const FLAGS = {
  'concurrent-horizontal-pod-autoscaler-syncs': 5,
  'horizontal-pod-autoscaler-sync-period': 15_000,
  'horizontal-pod-autoscaler-downscale-stabilization': 300_000,
  'horizontal-pod-autoscaler-tolerance': 0.1,
  'horizontal-pod-autoscaler-cpu-initialization-period': 300_000,
  'horizontal-pod-autoscaler-initial-readiness-delay': 30_000,
};
const QUEUE = {
  type: 'External',
  external: { metric: { name: 'queue' }, target: { type: 'AverageValue', averageValue: '1' } },
};

function hpa(spec: object = {}, name = 'hpa'): HorizontalPodAutoscaler {
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
  return {
    metadata: { name, namespace: 'default', uid: `uid-${name}`, resourceVersion: '4' },
    spec: { scaleTargetRef, minReplicas: 1, maxReplicas: 9, metrics: [QUEUE], ...spec },
  };
}

function scale(replicas: number, selector = 'app=web', name = 'web'): KubeObject {
  return {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name, namespace: 'default', uid: 'uid-web', resourceVersion: '1' },
    spec: { replicas },
    status: { replicas, selector },
  } as unknown as KubeObject;
}

type Fakes = ReturnType<typeof fakeContext>;

/** A process; with `after` it takes over what another one left behind. */
function setUp(autoscaler: HorizontalPodAutoscaler = hpa(), after?: Fakes) {
  const fakes = after ?? fakeContext({ now: NOW, flags: FLAGS, gatesOff: ['HPAScaleToZero'] });
  const { informers, clock, events } = fakes;
  const served = [DEPLOYMENTS, DAEMON_SETS].map((resource) => ({ ...resource, verbs: [] }));
  const groups = [{ name: 'apps', preferredVersion: 'v1' }];
  const discovery = async () => ({ groups, resources: served, failed: new Map<string, string>() });
  const answers = new Map<string, string | Error>();
  const getPath = async (path: string) => {
    const answer = answers.get(path) ?? refusal(404, 'NotFound', `nothing at ${path}`);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const client = { getPath } as unknown as ControllerContext['client'];
  const controller = horizontalPodAutoscalerController.build({
    ...fakes.context,
    discovery,
    client,
  })!;
  const [queue] = controller.queues;
  const autoscalers = informers.of<HorizontalPodAutoscaler>(HORIZONTAL_POD_AUTOSCALERS);
  if (after === undefined) autoscalers.put(autoscaler);
  const load = (value: string) =>
    answers.set(
      '/apis/external.metrics.k8s.io/v1beta1/namespaces/default/queue',
      JSON.stringify({ items: [{ value }] }),
    );
  const sync = async (
    current: number,
    prepare: (run: FakeRun) => void = () => undefined,
    key = KEY,
  ) => {
    const run = new FakeRun(clock.now());
    run.live(DEPLOYMENTS, scale(current));
    prepare(run);
    const error = await queue!.reconcile(key, run).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    const write = (resource: string) =>
      run.writes.findLast((one) => one.resource === resource)?.body;
    const scaled = write('deployments.apps/scale') as { spec: { replicas: number } } | undefined;
    const said = write('horizontalpodautoscalers.autoscaling/status') as
      | HorizontalPodAutoscaler
      | undefined;
    return { run, error, to: scaled?.spec.replicas, status: said?.status };
  };
  const told = () => events.events.splice(0).map(({ reason, message }) => `${reason}: ${message}`);
  return { ...fakes, fakes, queue, autoscalers, load, sync, told, answers };
}

const condition = (status: HorizontalPodAutoscaler['status'], type: string) =>
  status?.conditions?.find((one) => one.type === type)?.reason;

describe('a sync', () => {
  test('below zero a value for all asks for nothing, one to be shared for the most', async () => {
    const target = { type: 'Value', value: '1' };
    const total = { type: 'External', external: { metric: { name: 'queue' }, target } };
    const behavior = { scaleDown: { stabilizationWindowSeconds: 0 } };
    const fakes = fakeContext({ now: NOW, flags: FLAGS });
    const zero = hpa({ metrics: [total], minReplicas: 0, behavior });
    fakes.informers.of<HorizontalPodAutoscaler>(HORIZONTAL_POD_AUTOSCALERS).put(zero);
    fakes.informers.pods().put(podOf({ name: 'web', labels: { app: 'web' } }));
    const { sync, load } = setUp(zero, fakes);
    load('-3');
    const { status, to } = await sync(2);
    expect(to).toBe(0);
    expect(condition(status, 'ScalingLimited')).toBe('DesiredWithinRange');
    const shared = setUp();
    shared.load('-3');
    expect((await shared.sync(4)).to).toBe(8);
  });

  test('that is cut off for want of the Lease is counted nowhere', async () => {
    const { sync, load, context } = setUp();
    load('3');
    const { error } = await sync(2, (run) => run.failNext('update', new FencedError()));
    expect(error).toBeInstanceOf(FencedError);
    const counted = async () =>
      (await context.metrics.registry.metrics()).match(/_reconc.*_total{/);
    expect(await counted()).toBeNull();
    await sync(2);
    expect(await counted()).not.toBeNull();
  });

  test('scales, says so, and comes again after a period', async () => {
    const { sync, load, told } = setUp();
    load('3');
    const { to, status, run, error } = await sync(2);
    expect(error).toBeUndefined();
    expect(to).toBe(3);
    expect(run.wishes).toMatchObject([{ delayMs: 15_000 }]);
    expect(run.writes[0]?.because).toBe(
      'external metric queue(nil) above target: from 2 to 3 replicas',
    );
    expect(status).toMatchObject({
      currentReplicas: 2,
      desiredReplicas: 3,
      lastScaleTime: '2026-05-20T12:00:00Z',
      currentMetrics: [{ type: 'External', external: { current: { averageValue: '1500m' } } }],
      conditions: [
        { type: 'AbleToScale', status: 'True', reason: 'SucceededRescale' },
        { type: 'ScalingActive', status: 'True', reason: 'ValidMetricFound' },
        { type: 'ScalingLimited', status: 'False', reason: 'DesiredWithinRange' },
      ],
    });
    expect(told()).toEqual([
      'SuccessfulRescale: New size: 3; reason: external metric queue(nil) above target',
    ]);
  });

  test('does nothing, and writes nothing that is written already', async () => {
    const { sync, load, autoscalers } = setUp();
    load('2');
    const { to, status } = await sync(2);
    expect(to).toBeUndefined();
    autoscalers.put({ ...hpa(), status: status! });
    expect((await sync(2)).run.writes).toEqual([]);
  });

  test('puts a size into its bounds without asking', async () => {
    const { sync, told } = setUp(hpa({ maxReplicas: 4 }));
    expect((await sync(6)).to).toBe(4);
    expect(told()).toEqual([
      'SuccessfulRescale: New size: 4; reason: Current number of replicas above Spec.MaxReplicas',
    ]);
  });

  test('waits while pods may be there that the cache does not show', async () => {
    const { sync, load, informers } = setUp();
    load('3');
    informers.pods().complete = false;
    const { run } = await sync(2);
    expect([run.reads, run.wishes]).toMatchObject([[], [{ delayMs: 200 }]]);
    informers.pods().complete = true;
    expect((await sync(2)).to).toBe(3);
  });

  test('leaves a target at zero alone', async () => {
    const { sync } = setUp();
    const { to, status } = await sync(0);
    expect(to).toBeUndefined();
    expect(condition(status, 'ScalingActive')).toBe('ScalingDisabled');
  });

  test('of an autoscaler that is gone ends there', async () => {
    const { sync, autoscalers, memory, load } = setUp();
    load('2');
    await sync(2);
    expect(memory.all()).toHaveLength(1);
    autoscalers.remove(hpa());
    expect(memory.all()).toHaveLength(0);
    expect((await sync(2)).run.wishes).toEqual([]);
    autoscalers.put(hpa());
    const under = sync(2);
    autoscalers.remove(hpa());
    await under;
    await sync(2);
    expect(memory.all()).toHaveLength(0);
  });

  test('tries a conflict again, five times in all', async () => {
    const { sync, load, clock, told } = setUp();
    load('3');
    const trying = sync(2, (run) => run.failNext('update', refusal(409, 'Conflict')));
    await clock.advance(50);
    expect((await trying).to).toBe(3);
    const failing = sync(2, (run) => {
      for (let i = 0; i < 5; i++) run.failNext('update', refusal(409, 'Conflict', 'changed'));
    });
    await clock.advance(100);
    const { status, error, run } = await failing;
    expect(run.writes.filter(({ resource }) => resource === 'deployments.apps/scale')).toHaveLength(
      5,
    );
    expect(condition(status, 'AbleToScale')).toBe('FailedUpdateScale');
    expect(error).toMatchObject({ message: 'failed to rescale Deployment/default/web: changed' });
    expect(told().at(-1)).toBe(
      'FailedRescale: New size: 3; reason: external metric queue(nil) above target; error: changed',
    );
  });
});

describe('what fails', () => {
  test('a target that is not there, of a kind that is not there', async () => {
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Ghost', name: 'web' };
    const { sync, told } = setUp(hpa({ scaleTargetRef }));
    const { status, error } = await sync(1);
    expect(condition(status, 'AbleToScale')).toBe('FailedGetScale');
    expect(told()).toEqual(['FailedGetScale: no matches for kind "Ghost" in group "apps"']);
    expect(error).not.toBeInstanceOf(NotYet);
    // The same once more is nothing new.
    expect((await sync(1)).error).toBeInstanceOf(NotYet);
  });

  test('an impossible version', async () => {
    const scaleTargetRef = { apiVersion: 'a/b/c', kind: 'Deployment', name: 'web' };
    const { sync } = setUp(hpa({ scaleTargetRef }));
    const { error } = await sync(1);
    const problem = 'unexpected GroupVersion string: a/b/c';
    expect(error).toMatchObject({
      message: `invalid API version in scale target reference: ${problem}`,
    });
  });

  test('a metric: desired replicas stay, the metric is shown without a type', async () => {
    const world = setUp();
    const status = { desiredReplicas: 2, currentReplicas: 2 };
    world.autoscalers.put({ ...hpa(), status });
    const { status: said, error } = await world.sync(2);
    const path = '/apis/external.metrics.k8s.io/v1beta1/namespaces/default/queue';
    const problem =
      'unable to get external metric default/queue/nil: ' +
      `unable to fetch metrics from external metrics API: nothing at ${path}`;
    const full =
      'invalid metrics (1 invalid out of 1), first error is: failed to get queue external metric ' +
      `value: failed to get queue external metric: ${problem}`;
    expect(said).toMatchObject({ desiredReplicas: 2, currentMetrics: [{ type: '' }] });
    expect(said?.conditions).toContainEqual(
      expect.objectContaining({
        reason: 'FailedGetExternalMetric',
        message: `the HPA was unable to compute the replica count: ${problem}`,
      }),
    );
    expect(world.told()).toEqual([
      `FailedGetExternalMetric: ${problem}`,
      `FailedComputeMetricsReplicas: ${full}`,
    ]);
    expect(error).toMatchObject({
      message:
        'failed to compute desired number of replicas based on listed metrics for ' +
        `Deployment/default/web: ${full}`,
    });
  });

  test('one of two metrics: up all the same, down not', async () => {
    const absent = {
      type: 'External',
      external: { ...QUEUE.external, metric: { name: 'absent' } },
    };
    const { sync, load } = setUp(hpa({ metrics: [absent, QUEUE] }));
    load('4');
    const up = await sync(2);
    expect(up.to).toBe(4);
    expect(up.error).toMatchObject({ message: expect.stringContaining('1 invalid out of 2') });
    load('1');
    const down = await sync(2);
    expect(down.to).toBeUndefined();
    expect(condition(down.status, 'ScalingActive')).toBe('FailedGetExternalMetric');
  });

  test('a status that can not be written', async () => {
    const { sync, load, told } = setUp();
    load('2');
    const { error } = await sync(2, (run) =>
      run.failNext('update', refusal(409, 'Conflict', 'old')),
    );
    expect(error).toMatchObject({ message: 'failed to update status for hpa: old' });
    expect(told()).toEqual(['FailedUpdateStatus: old']);
  });

  test('counts as what it came to, and by whose fault', async () => {
    const { sync, load, autoscalers, context } = setUp();
    const counted = async (name: string) => {
      const family = `horizontal_pod_autoscaler_controller_${name}_total`;
      const text = await context.metrics.registry.getSingleMetricAsString(family);
      return text
        .split('\n')
        .slice(2)
        .map((line) => line.slice(family.length));
    };
    load('3');
    await sync(2, (run) => {
      const update = run.update.bind(run);
      run.update = (async (resource, ...rest) => {
        if (resource === HORIZONTAL_POD_AUTOSCALERS) throw refusal(409, 'Conflict', 'old');
        return await update(resource, ...rest);
      }) as typeof run.update;
    });
    expect(await counted('reconciliations')).toEqual(['{action="scale_up",error="internal"} 1']);
    autoscalers.put(hpa({ metrics: [QUEUE, { type: 'Strange' }] }));
    await sync(2);
    expect(await counted('metric_computation')).toContain(
      '{action="none",error="spec",metric_type="Strange"} 1',
    );
  });

  test('an object metric, by its selector or by its value', async () => {
    const object = (selector?: object) => ({
      type: 'Object',
      object: {
        describedObject: { apiVersion: 'v1', kind: 'Namespace', name: 'n' },
        metric: { name: 'qps', ...(selector ? { selector } : {}) },
        target: { type: 'AverageValue', averageValue: '1' },
      },
    });
    const selector = { matchExpressions: [{ key: 'a', operator: 'Like' }] };
    const prefix = 'first error is: failed to get object metric value: ';
    const one = setUp(hpa({ metrics: [object(selector)] }));
    expect((await one.sync(2)).error).toMatchObject({
      message: expect.stringContaining(`${prefix}"Like" is not a valid label selector operator`),
    });
    const other = setUp(hpa({ metrics: [object()] }));
    expect((await other.sync(2)).error).toMatchObject({
      message: expect.stringContaining(`${prefix}failed to get qps object metric: unable to get`),
    });
  });
});

describe('two autoscalers of one target', () => {
  test('keep still once both have looked, also after a restart', async () => {
    const world = setUp();
    world.autoscalers.put(hpa({}, 'two'));
    world.informers.pods().put(podOf());
    world.load('5');
    expect((await world.sync(2)).to).toBe(4);
    const second = await world.sync(4, undefined, 'default/two');
    expect(second.to).toBeUndefined();
    const text =
      'pods by selector app=web are controlled by multiple HPAs: [default/hpa default/two]';
    expect(world.told()).toContain(`AmbiguousSelector: ${text}`);
    const next = setUp(hpa(), world.fakes);
    next.load('9');
    expect((await next.sync(4)).to).toBeUndefined();
  });
});

describe('after a restart', () => {
  test('the window goes on', async () => {
    const first = setUp();
    first.load('6');
    await first.sync(6);
    first.load('1');
    await first.clock.advance(15_000);
    const held = await first.sync(6);
    expect(held.to).toBeUndefined();
    expect(condition(held.status, 'AbleToScale')).toBe('ScaleDownStabilized');
    await first.clock.advance(5_000);
    const second = setUp(hpa(), first.fakes);
    second.load('1');
    await second.clock.advance(270_000);
    expect((await second.sync(6)).to).toBeUndefined();
    await second.clock.advance(31_000);
    expect((await second.sync(6)).to).toBe(1);
  });

  const behavior = {
    scaleUp: { policies: [{ type: 'Pods', value: 2, periodSeconds: 60 }] },
    scaleDown: {},
  };

  test('a rate holds', async () => {
    const autoscaler = hpa({ behavior });
    const first = setUp(autoscaler);
    first.load('9');
    expect((await first.sync(1)).to).toBe(3);
    await first.clock.advance(5_000);
    const second = setUp(autoscaler, first.fakes);
    second.load('9');
    const held = await second.sync(3);
    expect(held.to).toBeUndefined();
    expect(condition(held.status, 'ScalingLimited')).toBe('ScaleUpLimit');
    await second.clock.advance(61_000);
    expect((await second.sync(3)).to).toBe(5);
  });

  test('a size that was announced counts if the target has it', async () => {
    for (const [arrived, expected] of [
      [true, undefined],
      [false, 3],
    ] as const) {
      const autoscaler = hpa({ behavior });
      const first = setUp(autoscaler);
      first.load('9');
      const cut = new Error('the process dies');
      await first.sync(1, (run) => run.failNext('update', cut));
      const second = setUp(autoscaler, first.fakes);
      second.load('9');
      expect((await second.sync(arrived ? 3 : 1)).to).toBe(expected as never);
    }
  });

  test('autoscalers that are gone are forgotten', async () => {
    const first = setUp();
    first.load('2');
    await first.sync(2);
    const { uid: _, ...rest } = hpa().metadata;
    first.autoscalers.put({ ...hpa(), metadata: { ...rest, uid: 'another' } });
    setUp(hpa(), first.fakes);
    expect(first.memory.all()).toHaveLength(0);
  });
});
