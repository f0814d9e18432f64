/** Clocks that are wrong, boxes that were off, objects that are others by now. */
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { always, eventually, type HoldfastManager } from '../rig/index.ts';
import { deployment, hanging, replicaSet, template } from '../scenarios/world.ts';
import { Bench, kill, leaseOf } from './bench.ts';
import { HAS_FAKETIME, WrongClock } from './faketime.ts';

setDefaultTimeout(120_000);

const REPLICAS = 4;
const HANGS = { 'sim.holdfast.dev/behaviour': 'hang' };

let bench: Bench;
let holdfast: HoldfastManager;

beforeAll(async () => {
  bench = await Bench.start('time');
});

afterAll(async () => {
  await bench?.cluster.stop();
});

afterEach(async () => {
  await holdfast.stop();
  for (const { metadata } of await bench.world.list('deployments')) {
    await bench.world.api.remove('deployments', bench.world.namespace, metadata.name);
  }
});

describe.skipIf(!HAS_FAKETIME)('a wall clock', () => {
  let clock: WrongClock;
  let rounds = 0;
  let name: string;

  beforeEach(() => {
    clock = new WrongClock(join(bench.cluster.dir, 'wrong-clock'));
    name = `clock-${++rounds}`;
  });

  async function create(replicas: number, fields: Record<string, unknown> = {}): Promise<void> {
    const labels = { app: name };
    const selector = { matchLabels: labels };
    const spec = { selector, template: template('1', {}, labels), ...fields };
    await bench.world.create(deployment(replicas, spec, name));
  }

  async function scale(replicas: number): Promise<void> {
    await bench.world.merge('deployments', name, { spec: { replicas } });
  }

  /** Begins a rollout; its first new pod is there. */
  async function beginRollout(): Promise<void> {
    const { created } = bench.pods(name);
    const spec = { template: template('2', {}, { app: name }) };
    await bench.world.merge('deployments', name, { spec });
    while (bench.pods(name).created === created) await Bun.sleep(5);
  }

  test.each(['-1y', '+1y'])(
    'wrong by %s at the start changes nothing that was right',
    async (off) => {
      holdfast = await bench.holdfast();
      await create(REPLICAS);
      await bench.rolledOut(holdfast, name);
      await kill(holdfast);
      clock.set(off);
      const { stateDir, runtimeDir } = holdfast;
      holdfast = await bench.holdfast({ stateDir, runtimeDir, env: clock.env });
      // Before the certificates are valid nobody can be talked to; that is no reason to stop.
      if (off === '-1y') {
        await always(() => holdfast.running, { forMs: 2_000, describe: 'it waits for the clock' });
        clock.set('+0');
      }
      await scale(REPLICAS + 1);
      await bench.rolledOut(holdfast, name);
      expect(bench.pods(name)).toEqual({ created: REPLICAS + 1, deleted: 0 });
    },
  );

  test.each(['+1y', '-50m'])('off by %s before a kill, right after it', async (off) => {
    clock.set(off);
    holdfast = await bench.holdfast({ env: clock.env });
    await create(REPLICAS);
    await bench.rolledOut(holdfast, name);
    await beginRollout();
    await kill(holdfast);
    holdfast = await bench.again(holdfast);
    await bench.rolledOut(holdfast, name);
    expect(bench.pods(name)).toEqual({ created: 2 * REPLICAS, deleted: REPLICAS });
    expect(await leaseOf(holdfast)).toMatchObject({ how: 'instant' });
    await scale(REPLICAS + 2);
    await bench.rolledOut(holdfast, name);
    expect(bench.pods(name)).toEqual({ created: 2 * REPLICAS + 2, deleted: REPLICAS });
  });

  test('two hours later, after a reboot: a rollout under way goes on', async () => {
    holdfast = await bench.holdfast();
    await create(REPLICAS);
    await bench.rolledOut(holdfast, name);
    await beginRollout();
    await afterTwoHours();
    await bench.rolledOut(holdfast, name);
    expect(bench.pods(name)).toEqual({ created: 2 * REPLICAS, deleted: REPLICAS });
  });

  test('two hours later, a deadline has passed if the API says so, as upstream', async () => {
    const { world } = bench;
    holdfast = await bench.holdfast();
    const stuck = (app: string, deadline: number): Promise<unknown> => {
      const labels = { app };
      const pods = { ...hanging('1'), metadata: { labels, annotations: HANGS } };
      const fields = { selector: { matchLabels: labels }, template: pods };
      const spec = { ...fields, progressDeadlineSeconds: deadline };
      return world.create(deployment(1, spec, app));
    };
    await stuck('short', 600);
    await stuck('long', 9_000);
    for (const app of ['short', 'long']) {
      await world.condition('deployments', app, 'Progressing', 'ReplicaSetUpdated');
    }
    await afterTwoHours();
    await world.condition('deployments', 'short', 'Progressing', 'ProgressDeadlineExceeded');
    await world.merge('deployments', 'long', { spec: { revisionHistoryLimit: 7 } });
    await world.until('deployments', 'long', ({ metadata, status }) => {
      return status.observedGeneration === metadata.generation;
    });
    await world.condition('deployments', 'long', 'Progressing', 'ReplicaSetUpdated');
  });

  /** The process is killed and what lay on the tmpfs is lost; the next one starts in two hours. */
  async function afterTwoHours(): Promise<void> {
    await kill(holdfast);
    clock.set('+2h');
    const { stateDir, runtimeDir } = holdfast;
    rmSync(runtimeDir, { recursive: true, force: true });
    holdfast = await bench.holdfast({ stateDir, runtimeDir, env: clock.env });
  }
});

test('an object made anew under its old name while Holdfast was down is a new object', async () => {
  const { world } = bench;
  const create = () => world.create(replicaSet(REPLICAS, {}, 'again'));
  holdfast = await bench.holdfast();
  const first = await create();
  await eventually(() => bench.pods().created > 0, { everyMs: 5 });
  await kill(holdfast);
  await bench.ledger.reach();
  const before = bench.pods();
  // Its pods stay: they are the old one's, whatever the names say.
  await world.api.remove('replicasets', world.namespace, 'again');
  const second = await create();
  holdfast = await bench.again(holdfast);
  await world.scaled('replicasets', 'again', REPLICAS);
  await bench.ledger.reach();
  expect(second.metadata.uid).not.toBe(first.metadata.uid);
  expect(bench.pods()).toEqual({ created: before.created + REPLICAS, deleted: 0 });
  const selector = { labelSelector: 'app=web' };
  const pods = await world.api.list('pods', world.namespace, selector);
  const own = pods.filter(({ metadata }) => {
    return metadata.ownerReferences[0].uid === second.metadata.uid;
  });
  expect(own).toHaveLength(REPLICAS);
  await world.api.remove('replicasets', world.namespace, 'again');
});

test('a Deployment made anew does not inherit the deadline or the history of the old one', async () => {
  const { world } = bench;
  const name = 'renewed';
  const labels = { app: name };
  const fields = { selector: { matchLabels: labels }, progressDeadlineSeconds: 3 };
  holdfast = await bench.holdfast();
  const stuck = { ...hanging('1'), metadata: { labels, annotations: HANGS } };
  await world.create(deployment(2, { ...fields, template: stuck }, name));
  await world.condition('deployments', name, 'Progressing', 'ProgressDeadlineExceeded');
  await kill(holdfast);
  await world.api.remove('deployments', world.namespace, name);
  for (const { metadata } of await world.list('replicasets')) {
    await world.api.remove('replicasets', world.namespace, metadata.name);
  }
  await world.create(deployment(2, { ...fields, template: template('1', {}, labels) }, name));
  holdfast = await bench.again(holdfast);
  await bench.rolledOut(holdfast, name);
  const { metadata, status } = await world.get('deployments', name);
  expect(metadata.annotations['deployment.kubernetes.io/revision']).toBe('1');
  const progressing = status.conditions.find(
    ({ type }: { type: string }) => type === 'Progressing',
  );
  expect(progressing).toMatchObject({ status: 'True', reason: 'NewReplicaSetAvailable' });
});
