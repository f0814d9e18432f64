/**
 * Autoscalers and budgets while Holdfast is killed: windows go on, rates hold, evicted pods are looked
 * at in time; without memory it is as upstream.
 */
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import {
  type Cluster,
  type HoldfastManager,
  METRICS_CLUSTER,
  MetricsApi,
  simulateNodes,
  startCluster,
} from '../rig/index.ts';
import { autoscaler, external } from '../scenarios/autoscalers.ts';
import { deployment, type Fields, World } from '../scenarios/world.ts';
import { killAndStart, type Memory } from './again.ts';

setDefaultTimeout(240_000);

const WINDOW_MS = 20_000;
const PERIOD_MS = 20_000;
/** Syncs come once a second, and times are looked at a few times a second. */
const SLACK_MS = 1_500;
/** What a restart and the time that nobody watched may add. */
const RESTART_MS = 7_000;
const FLAGS = [
  '--controllers=disruption,horizontalpodautoscaling,deployment,replicaset,serviceaccount',
  '--horizontal-pod-autoscaler-sync-period=1s',
  `--horizontal-pod-autoscaler-downscale-stabilization=${WINDOW_MS}ms`,
  '--leader-elect-lease-duration=3s',
  '--leader-elect-renew-deadline=2s',
  '--leader-elect-retry-period=500ms',
];
const ONE_EACH = [external({ type: 'AverageValue', averageValue: '1' })];

let cluster: Cluster;
let metrics: MetricsApi;
let holdfast: HoldfastManager;
let world: World;

beforeAll(async () => {
  cluster = await startCluster(METRICS_CLUSTER);
  await simulateNodes(cluster, { count: 2, clearTaint: true, bind: true });
  metrics = await MetricsApi.serve(cluster);
  holdfast = await cluster.startHoldfast({ flags: FLAGS });
});

beforeEach(async () => {
  world = new World(cluster, await cluster.namespace('hpa'));
});

afterAll(async () => {
  await cluster?.stop();
});

async function again(memory?: Memory): Promise<void> {
  holdfast = await killAndStart(cluster, holdfast, FLAGS, memory);
}

function load(value: number): void {
  metrics.outside(world.namespace, 'queue', { labels: {}, value: String(value) });
}

async function start(replicas: number, wanted: number, fields: Fields = {}): Promise<void> {
  load(wanted);
  await world.create(deployment(replicas));
  await world.rolledOut();
  await world.create(autoscaler(ONE_EACH, fields));
}

async function size(): Promise<number> {
  return (await world.get('deployments', 'web')).spec.replicas;
}

/** When the size is first seen to be this one. */
async function reached(replicas: number): Promise<number> {
  await world.until('deployments', 'web', ({ spec }) => spec.replicas === replicas);
  return Date.now();
}

async function saysStabilized(): Promise<void> {
  await world.condition('horizontalpodautoscalers', 'hpa', 'AbleToScale', 'ScaleDownStabilized');
}

describe('the window for going down', () => {
  test('goes on after kill -9: it ends neither early nor much later', async () => {
    await start(4, 4);
    await world.condition('horizontalpodautoscalers', 'hpa', 'ScalingActive', 'ValidMetricFound');
    load(1);
    const begun = Date.now();
    await saysStabilized();
    await Bun.sleep(WINDOW_MS / 2);
    await again();
    const waited = (await reached(1)) - begun;
    expect(waited).toBeWithin(WINDOW_MS - SLACK_MS, WINDOW_MS + RESTART_MS);
  });

  test('begins anew without memory, as upstream has it', async () => {
    await start(4, 4);
    await world.condition('horizontalpodautoscalers', 'hpa', 'ScalingActive', 'ValidMetricFound');
    load(1);
    await saysStabilized();
    await Bun.sleep(WINDOW_MS / 2);
    const killed = Date.now();
    await again('lost');
    expect((await reached(1)) - killed).toBeGreaterThan(WINDOW_MS - SLACK_MS);
  });
});

const TWO_A_PERIOD = {
  behavior: {
    scaleUp: { policies: [{ type: 'Pods', value: 2, periodSeconds: PERIOD_MS / 1_000 }] },
  },
};

describe('a rate', () => {
  test('holds after kill -9', async () => {
    await start(1, 9, TWO_A_PERIOD);
    const first = await reached(3);
    await again();
    const waited = (await reached(5)) - first;
    expect(waited).toBeWithin(PERIOD_MS - SLACK_MS, PERIOD_MS + RESTART_MS);
  });

  test('is exceeded without memory, as upstream has it', async () => {
    await start(1, 9, TWO_A_PERIOD);
    const first = await reached(3);
    await again('lost');
    expect((await reached(5)) - first).toBeLessThan(PERIOD_MS - SLACK_MS);
  });

  test('holds whenever it is killed', async () => {
    const period = { type: 'Pods', value: 2, periodSeconds: 6 };
    await start(1, 7, { behavior: { scaleUp: { policies: [period] } } });
    const seen: { readonly at: number; readonly size: number }[] = [];
    const watching = new AbortController();
    const look = async (): Promise<void> => {
      seen.push({ at: Date.now(), size: await size() });
    };
    const watch = (async () => {
      while (!watching.signal.aborted) {
        await look();
        await Bun.sleep(50);
      }
    })();
    for (let kill = 0; kill < 6; kill++) {
      await Bun.sleep(700 + 450 * kill);
      await again();
    }
    await reached(7);
    watching.abort();
    await watch;
    // The end may have been reached after the last look.
    await look();
    const steps = seen.filter(({ size: now }, index) => now !== seen[index - 1]?.size);
    expect(steps.map((step) => step.size)).toEqual([1, 3, 5, 7]);
    const waits = steps.slice(2).map(({ at }, index) => at - (steps[index + 1]?.at ?? 0));
    for (const wait of waits) expect(wait).toBeGreaterThan(6_000 - SLACK_MS);
  });
});

describe('two autoscalers of one target', () => {
  /** Both have found out about each other, and then there is more to do. */
  async function stuck(): Promise<void> {
    await start(2, 2);
    await world.create(autoscaler(ONE_EACH, {}, 'other'));
    for (const name of ['hpa', 'other']) {
      await world.condition('horizontalpodautoscalers', name, 'ScalingActive', 'AmbiguousSelector');
    }
    load(4);
  }

  test('keep still after kill -9', async () => {
    await stuck();
    await again();
    await holdfast.waitServing();
    await Bun.sleep(6_000);
    expect(await size()).toBe(2);
  });

  test('one of them acts without memory, as upstream has it', async () => {
    await stuck();
    await again('lost');
    await reached(4);
  });
});

test('an evicted pod that stays counts again in time, whoever was killed meanwhile', async () => {
  const LEFT_MS = 8_000;
  await start(1, 1);
  const [pod] = await world.list('pods');
  const { name } = pod?.metadata ?? {};
  const selector = { matchLabels: { app: 'web' } };
  await world.create({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'budget' },
    spec: { selector, minAvailable: 0 },
  });
  const allows = (count: number) =>
    world.until('poddisruptionbudgets', 'budget', ({ status }) => {
      return status?.disruptionsAllowed === count;
    });
  await allows(1);
  const since = new Date(Date.now() - 120_000 + LEFT_MS).toISOString().replace(/\.\d+Z/, 'Z');
  const disruptedPods = { [name]: since };
  await world.api.patchStatus('poddisruptionbudgets', world.namespace, 'budget', { disruptedPods });
  await allows(0);
  const begun = Date.now();
  await again();
  await allows(1);
  expect(Date.now() - begun).toBeLessThan(LEFT_MS + SLACK_MS);
});
