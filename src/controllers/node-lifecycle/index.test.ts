import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { FencedError, TransportError } from '../../api/errors.ts';
import { LEASES, NODES, PODS } from '../../api/resource.ts';
import type { Lease } from '../../api/types/index.ts';
import { ObjectUnavailable } from '../../runtime/informer/cache.ts';
import { FakeRun, refusal } from '../_kit/testing/fake-run.ts';
import { podOf } from '../_kit/testing/objects.ts';
import { NOT_READY, UNREACHABLE } from './decide-node.ts';
import { GRACE_MS, leaseOf, NOW, nodeOf, restarted, Stage } from './testing/stage.ts';

describe('a silent node', () => {
  test('is Unknown after its grace, then tainted, and told once', async () => {
    const stage = new Stage([nodeOf('a'), nodeOf('b')]);
    await stage.look();
    await stage.fakes.clock.advance(GRACE_MS);
    expect((await stage.look()).writes).toEqual([]);
    await stage.fakes.clock.advance(1);
    stage.nodes.put(nodeOf('b', { heartbeat: 'h2' }));
    const run = await stage.look();
    expect(run.writes[0]).toMatchObject({
      resource: 'nodes/status',
      key: 'a',
      because: 'nothing was heard of node a for 40 s, 40 s are allowed',
    });
    expect(stage.statusOf('a')).toBe('Unknown');
    await stage.taint();
    expect(stage.taintsOf('a')).toEqual(['unreachable']);
    const { registry } = stage.fakes.context.metrics;
    const counted = await registry.getSingleMetricAsString('node_collector_evictions_total');
    expect(counted).toContain('[STABLE] Number of Node evictions');
    expect(counted).toEndWith('{zone=""} 1');
    await stage.pass(20_000);
    expect(stage.told).toEqual(['RegisteredNode', 'RegisteredNode', 'NodeNotReady']);
  });

  test('is heard of by its Lease', async () => {
    const stage = new Stage([nodeOf('a')]);
    const leases = stage.fakes.informers.of<Lease>(LEASES);
    await stage.look();
    for (let at = 1; at < 20; at++) {
      leases.put(leaseOf('a', `2026-11-30T06:${10 + at}:00.000000Z`));
      await stage.pass(5_000);
    }
    expect(stage.statusOf('a')).toBe('True');
  });

  test('that was just heard of is not written over: the write fails, and it is looked at', async () => {
    const stage = new Stage([nodeOf('a'), nodeOf('b')]);
    await stage.look();
    await stage.fakes.clock.advance(GRACE_MS + 1);
    stage.nodes.put(nodeOf('b', { heartbeat: 'h2' }));
    const run = new FakeRun(NOW);
    run.failNext('patch', refusal(409, 'Conflict'));
    run.live(NODES, nodeOf('a', { heartbeat: 'h2' }));
    const looked = stage.look(run);
    await stage.fakes.clock.advance(20);
    await looked;
    expect(run.writes).toHaveLength(1);
    expect(stage.told).not.toContain('NodeNotReady');
  });

  test('takes its pods along, but only when it was ready', async () => {
    for (const [ready, marked] of [
      ['True', 1],
      ['False', 0],
    ] as const) {
      const stage = new Stage([nodeOf('node-1', { ready }), nodeOf('b')]);
      stage.fakes.informers
        .pods()
        .put(podOf({ name: 'web' }), podOf({ name: 'off', ready: false }));
      await stage.look();
      await stage.fakes.clock.advance(GRACE_MS + 1);
      stage.nodes.put(nodeOf('b', { heartbeat: 'h2' }));
      const { writes } = await stage.look();
      const ofPods = writes.filter(({ resource }) => resource === 'pods/status');
      expect(ofPods.map(({ key }) => key)).toEqual(marked ? ['default/web'] : []);
      expect(stage.told.filter((reason) => reason === 'NodeNotReady')).toHaveLength(marked * 2);
    }
  });

  test('whose pods could not be marked tries again at the next look', async () => {
    const stage = new Stage([nodeOf('node-1'), nodeOf('b')]);
    stage.fakes.informers.pods().put(podOf({ name: 'web' }));
    await stage.look();
    await stage.fakes.clock.advance(GRACE_MS + 1);
    stage.nodes.put(nodeOf('b', { heartbeat: 'h2' }));
    const run = new FakeRun(NOW);
    const patch = run.patch.bind(run);
    run.patch = async (resource, ...rest) => {
      if (resource === PODS) throw refusal(409, 'Conflict');
      return await patch(resource, ...rest);
    };
    await stage.look(run);
    expect(stage.fakes.errors).toHaveLength(1);
    const again = await stage.look();
    expect(again.writes.map(({ resource }) => resource)).toEqual(['pods/status']);
    expect(
      (await stage.look()).writes.filter(({ resource }) => resource === 'pods/status'),
    ).toEqual([]);
  });
});

describe('a node that was just called lost', () => {
  const WEB = podOf({ name: 'web' });
  const OFF = podOf({ name: 'off' });

  async function silent(): Promise<Stage> {
    const stage = new Stage([nodeOf('node-1'), nodeOf('b')]);
    stage.fakes.informers.pods().put(OFF, WEB);
    await stage.look();
    await stage.fakes.clock.advance(GRACE_MS + 1);
    stage.nodes.put(nodeOf('b', { heartbeat: 'h2' }));
    return stage;
  }

  const marked = ({ writes }: FakeRun): string[] =>
    writes.flatMap(({ resource, key }) => (resource === 'pods/status' ? key : []));

  test('has its pods marked later by a process that could not write for a while', async () => {
    const stage = await silent();
    const run = new FakeRun(NOW);
    const patch = run.patch.bind(run);
    run.patch = async (resource, ...rest) => {
      if (resource === PODS) throw new FencedError('the history is being checked');
      return await patch(resource, ...rest);
    };
    await stage.look(run).catch(() => undefined);
    stage.nodes.put(nodeOf('node-1', { ready: 'Unknown' }));
    expect(marked(await stage.look())).toEqual(['default/off', 'default/web']);
    expect(marked(await stage.look())).toEqual([]);
  });

  test('has them marked if its status was written, but no answer came', async () => {
    const stage = await silent();
    const run = new FakeRun(NOW);
    run.failNext('patch', new TransportError('connection reset'));
    run.live(NODES, nodeOf('node-1', { ready: 'Unknown' }));
    const looked = stage.look(run);
    await stage.fakes.clock.advance(20);
    await looked;
    expect(marked(run)).toEqual(['default/off', 'default/web']);
  });

  test('has them all marked if the disk lost one of them', async () => {
    const stage = await silent();
    const { lister } = stage.fakes.informers.pods();
    const get = lister.get.bind(lister);
    lister.get = (key) => {
      if (key === 'default/off') throw new ObjectUnavailable(PODS, key);
      return get(key);
    };
    const run = new FakeRun(NOW);
    run.live(PODS, OFF);
    await stage.look(run);
    expect(marked(run)).toEqual(['default/off', 'default/web']);
  });
});

test('labels are set also if a taint is refused', async () => {
  const stage = new Stage([]);
  const node = nodeOf('a', { ready: 'False' });
  const labels = { 'kubernetes.io/os': 'linux' };
  stage.nodes.put({ ...node, metadata: { ...node.metadata, labels } });
  const run = new FakeRun(NOW);
  run.failNext('patch', refusal(403, 'Forbidden'));
  const synced = stage.sync('node_lifecycle_controller', 'a', run);
  await expect(synced).rejects.toThrow('Forbidden');
  expect(run.writes.at(-1)?.body).toMatchObject({
    metadata: { labels: { 'beta.kubernetes.io/os': 'linux' } },
  });
});

describe('a node that never spoke', () => {
  test('is given a minute from its creation', async () => {
    const stage = new Stage([nodeOf('b'), nodeOf('mute', { ready: '', createdAt: NOW - 50_000 })]);
    await stage.look();
    await stage.fakes.clock.advance(10_001);
    await stage.look();
    expect(stage.statusOf('mute')).toBe('Unknown');
  });

  test('is not judged by a clock that jumps once it is watched', async () => {
    const stage = new Stage([nodeOf('b')]);
    await stage.look();
    await stage.fakes.clock.advance(5_000);
    stage.nodes.put(nodeOf('mute', { ready: '', createdAt: NOW + 3_000 }));
    stage.fakes.clock.setWall(NOW + 365 * 86_400_000);
    await stage.look();
    expect(stage.statusOf('mute')).toBeUndefined();
  });
});

describe('taints that drive pods away', () => {
  test('are swapped at once, and taken off when the node is ready or first seen mute', async () => {
    const stage = new Stage([
      nodeOf('weak', { ready: 'False', taints: [{ ...UNREACHABLE }] }),
      nodeOf('well', { taints: [{ ...UNREACHABLE }, { ...NOT_READY }] }),
      nodeOf('mute', { ready: '', createdAt: NOW, taints: [{ ...NOT_READY }] }),
    ]);
    await stage.look();
    expect(['weak', 'well', 'mute'].map((name) => stage.taintsOf(name))).toEqual([
      ['not-ready'],
      [],
      [],
    ]);
  });

  test('go from all nodes when none is ready, and wait until one is', async () => {
    const stage = new Stage([
      nodeOf('a', { ready: 'Unknown', taints: [{ ...UNREACHABLE }] }),
      nodeOf('b', { ready: 'False' }),
    ]);
    await stage.look();
    await stage.pass(60_000);
    await stage.taint();
    expect([...stage.taintsOf('a'), ...stage.taintsOf('b')]).toEqual([]);
    stage.nodes.put(nodeOf('b', { heartbeat: 'h2' }));
    await stage.look();
    await stage.fakes.clock.advance(10_000);
    await stage.look();
    await stage.taint();
    expect(stage.taintsOf('a')).toEqual(['unreachable']);
  });
});

test('no node is Unknown before it was silent for its grace, whatever happens', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('pass'), ms: fc.nat(30_000) }),
    fc.record({ do: fc.constantFrom('status', 'lease', 'restart', 'jump'), ms: fc.constant(0) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      let stage = new Stage([nodeOf('a'), nodeOf('b')]);
      await stage.look();
      const { clock } = stage.fakes;
      let heardAt = clock.monotonic();
      let beats = 1;
      for (const { do: what, ms } of steps) {
        beats++;
        stage.nodes.put(nodeOf('b', { heartbeat: `h${beats}` }));
        if (what === 'pass') await clock.advance(ms);
        if (what === 'jump') clock.setWall(NOW + beats * 1e9);
        if (what === 'restart') stage = restarted(stage);
        if (what === 'status') stage.nodes.put(nodeOf('a', { heartbeat: `h${beats}` }));
        if (what === 'lease') {
          const text = `2026-11-30T06:00:${String(10 + beats)}.000000Z`;
          stage.fakes.informers.of<Lease>(LEASES).put(leaseOf('a', text));
        }
        if (what === 'status' || what === 'lease') heardAt = clock.monotonic();
        await stage.look();
        if (stage.statusOf('a') !== 'Unknown') continue;
        expect(clock.monotonic() - heardAt).toBeGreaterThan(GRACE_MS);
        return;
      }
    }),
    { numRuns: 300 },
  );
});
