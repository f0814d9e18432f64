/** Jobs and CronJobs while Holdfast is killed: nothing counts or starts twice, waits go on. */
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import {
  type Cluster,
  eventually,
  FaultProxy,
  type HoldfastManager,
  type Obj,
  simulateNodes,
  startCluster,
} from '../rig/index.ts';
import { template, World } from '../scenarios/world.ts';
import { killAndStart, type Memory } from './again.ts';

setDefaultTimeout(240_000);

const FLAGS = ['--controllers=job,cronjob,serviceaccount', '-v=2'];
const SIM = 'sim.holdfast.dev/';
const PODS = 60;
const KILLS = 4;

let cluster: Cluster;
let holdfast: HoldfastManager;

beforeAll(async () => {
  cluster = await startCluster();
  await simulateNodes(cluster, { count: 2, clearTaint: true, bind: true });
  holdfast = await cluster.startHoldfast({ flags: FLAGS });
});

afterAll(async () => {
  await cluster.stop();
});

async function again(memory?: Memory): Promise<void> {
  holdfast = await killAndStart(cluster, holdfast, FLAGS, memory);
}

async function newWorld(): Promise<World> {
  return new World(cluster, await cluster.namespace('jobs'));
}

/** Lets a process win the Lease and remember it, but never find its caches as new as the server. */
async function leadInVain(): Promise<void> {
  const { stateDir, runtimeDir, port } = holdfast;
  const before = (await leaseTransitions()) ?? 0;
  holdfast.kill('SIGKILL');
  await holdfast.waitExit();
  const proxy = await FaultProxy.start(cluster);
  proxy.fail({ method: 'GET', path: /apiserver\.kubernetes\.io/, fault: { status: 503 } });
  const kubeconfig = cluster.kubeconfig('kube-controller-manager', proxy.url);
  const places = { stateDir, runtimeDir, port };
  holdfast = await cluster.startHoldfast({ flags: FLAGS, kubeconfig, ...places });
  await eventually(async () => termInFile(stateDir) === before + 1, {
    describe: 'the term in the state file',
  });
  expect(holdfast.log()).not.toContain('Controllers start');
}

async function leaseTransitions(): Promise<number | undefined> {
  const lease = await cluster.api.get('leases', 'kube-system', 'kube-controller-manager');
  return lease.spec.leaseTransitions;
}

function termInFile(stateDir: string): number | undefined {
  const database = new Database(join(stateDir, 'state.db'), { readonly: true });
  try {
    const fact = "SELECT value FROM facts WHERE name = 'lease.last-term'";
    const row = database.query<{ value: string }, []>(fact).get();
    return row === null ? undefined : JSON.parse(row.value).leaseTransitions;
  } finally {
    database.close();
  }
}

function job(spec: object, annotations: Record<string, string>): Record<string, unknown> {
  const notes = Object.fromEntries(
    Object.entries(annotations).map(([name, value]) => [SIM + name, value]),
  );
  const pods = template('1', { restartPolicy: 'Never', annotations: notes });
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'pi' },
    spec: { ...spec, template: pods },
  };
}

function endOf({ status }: Obj): number {
  return Date.parse(status.containerStatuses?.[0]?.state.terminated?.finishedAt);
}

describe('a Job', () => {
  test.each(['kept', 'lost'] as const)(
    'counts each pod once, its memory %s, and makes none too many',
    async (memory) => {
      const world = await newWorld();
      await world.create(
        job(
          { completions: PODS, parallelism: 10 },
          { behaviour: 'finish', 'finish-after': '300ms' },
        ),
      );
      for (let kill = 1; kill <= KILLS; kill++) {
        const counted = (PODS / (KILLS + 1)) * kill;
        await world.until('jobs', 'pi', ({ status }) => (status?.succeeded ?? 0) >= counted);
        await again(memory);
      }
      const done = await world.until(
        'jobs',
        'pi',
        ({ status }) => status?.completionTime !== undefined,
      );
      expect(done.status.succeeded).toBe(PODS);
      expect(done.status.failed ?? 0).toBe(0);
      const pods = await world.list('pods');
      expect(pods).toHaveLength(PODS);
      expect(pods.flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([]);
    },
  );

  /** Milliseconds from the end of each pod to the creation of the next, around a restart. */
  async function waitsOf(memory: Memory, between?: () => Promise<void>) {
    const world = await newWorld();
    await world.create(job({ backoffLimit: 2 }, { behaviour: 'fail' }));
    await world.until('jobs', 'pi', ({ status }) => status?.failed === 2);
    await between?.();
    await again(memory);
    await world.until('jobs', 'pi', ({ status }) => status?.failed === 3);
    const pods = (await world.list('pods')).sort((a, b) => endOf(a) - endOf(b));
    return pods
      .slice(1)
      .map(({ metadata }, at) => Date.parse(metadata.creationTimestamp) - endOf(pods[at] as Obj));
  }

  test('waits as long between retries as if nobody had been killed', async () => {
    const waits = await waitsOf('kept');
    expect(waits).toHaveLength(2);
    // Times are whole seconds, and changes are collected for a second.
    expect(waits[0]).toBeWithin(9_000, 13_000);
    expect(waits[1]).toBeWithin(19_000, 24_000);
  });

  test('waits as long also if a process in between died before its controllers ran', async () => {
    const waits = await waitsOf('kept', leadInVain);
    expect(waits[1]).toBeWithin(19_000, 24_000);
  });

  test('begins its waits anew without memory, as upstream has it', async () => {
    const waits = await waitsOf('lost');
    expect(waits).toHaveLength(2);
    expect(waits[1]).toBeLessThan(19_000);
  });

  test('counts a pod that ended and was deleted while nobody looked', async () => {
    const world = await newWorld();
    await world.create(job({}, { behaviour: 'finish', 'finish-after': '3s' }));
    const [pod] = await world.untilList('pods', (pods) => pods.length === 1, 'a pod');
    const { name } = pod?.metadata ?? {};
    const { stateDir, runtimeDir, port } = holdfast;
    holdfast.kill('SIGKILL');
    await holdfast.waitExit();
    await world.until('pods', name, ({ status }) => status.phase === 'Succeeded');
    await cluster.api.remove('pods', world.namespace, name, { gracePeriodSeconds: 0 });
    holdfast = await cluster.startHoldfast({ flags: FLAGS, stateDir, runtimeDir, port });
    const done = await world.until(
      'jobs',
      'pi',
      ({ status }) => status?.completionTime !== undefined,
    );
    expect(done.status).toMatchObject({ succeeded: 1 });
    await eventually(async () => (await world.list('pods')).length === 0, { describe: 'no pod' });
  });
});

describe('a CronJob', () => {
  test('starts a time once, whenever Holdfast dies', async () => {
    const world = await newWorld();
    const { spec } = job({}, { behaviour: 'run' });
    await world.create({
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'tick' },
      spec: { schedule: '0 0 1 1 *', suspend: true, jobTemplate: { spec } },
    });
    const lastScheduleTime = '2020-06-01T00:00:00Z';
    await cluster.api.patchStatus('cronjobs', world.namespace, 'tick', { lastScheduleTime });
    await world.merge('cronjobs', 'tick', { spec: { suspend: false } });
    await world.untilList('jobs', (jobs) => jobs.length > 0, 'a Job');
    await again();
    const told = await world.until(
      'cronjobs',
      'tick',
      ({ status }) => status.lastScheduleTime !== lastScheduleTime,
    );
    expect(told.status.active).toHaveLength(1);
    expect(await world.list('jobs')).toHaveLength(1);
  });
});
