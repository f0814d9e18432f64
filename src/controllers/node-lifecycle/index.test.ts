import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { LEASES, NODES, PODS } from '../../api/resource.ts';
import { timeText } from '../../api/time.ts';
import type { Lease, Node, Taint } from '../../api/types/index.ts';
import { type FakeContext, fakeContext } from '../_kit/testing/fake-context.ts';
import { FakeRun, refusal } from '../_kit/testing/fake-run.ts';
import { podOf } from '../_kit/testing/objects.ts';
import { NOT_READY, UNREACHABLE } from './decide-node.ts';
import { nodeLifecycleController } from './index.ts';

const NOW = Date.parse('2026-11-30T06:00:00Z');
const GRACE_MS = 40_000;
const FLAGS = {
  'node-monitor-period': 5_000,
  'node-monitor-grace-period': GRACE_MS,
  'node-startup-grace-period': 60_000,
  'node-eviction-rate': 0.1,
  'secondary-node-eviction-rate': 0.01,
  'large-cluster-size-threshold': 50,
  'unhealthy-zone-threshold': 0.55,
};

interface NodeFacts {
  readonly ready?: string;
  readonly heartbeat?: string;
  readonly taints?: readonly Taint[];
  readonly uid?: string;
  readonly createdAt?: number;
}

function nodeOf(name: string, facts: NodeFacts = {}): Node {
  const { ready = 'True', heartbeat = 'h1', taints = [], uid = `uid-${name}` } = facts;
  const creationTimestamp = timeText(facts.createdAt ?? NOW - 3_600_000);
  const condition = { type: 'Ready', status: ready, lastHeartbeatTime: heartbeat };
  return {
    metadata: { name, uid, resourceVersion: '1', creationTimestamp },
    spec: { taints },
    status: ready === '' ? {} : { conditions: [condition] },
  };
}

function leaseOf(name: string, renewTime: string): Lease {
  const metadata = { name, namespace: 'kube-node-lease', uid: `l-${name}`, resourceVersion: '1' };
  return { metadata, spec: { renewTime } };
}

/** The controller on fakes; nodes take over what is written to them. */
class Stage {
  readonly fakes: FakeContext;
  readonly #queues;

  constructor(nodes: readonly Node[], fakes = fakeContext({ now: NOW, flags: FLAGS })) {
    this.fakes = fakes;
    this.nodes.put(...nodes);
    fakes.informers.of<Lease>(LEASES);
    this.#queues = nodeLifecycleController.build(fakes.context)?.queues ?? [];
  }

  get nodes() {
    return this.fakes.informers.of<Node>(NODES);
  }

  get told(): string[] {
    return this.fakes.events.events.map(({ reason }) => reason);
  }

  /** One sync of a queue; writes of taints and conditions become true. */
  async sync(queue: string, key: string, run = new FakeRun(this.fakes.clock.now())) {
    const definition = this.#queues.find((one) => one.queue.name === queue);
    await definition?.reconcile(key, run);
    for (const { resource, key: name, body } of run.writes) this.#apply(resource, name, body);
    return run;
  }

  look(run?: FakeRun) {
    return this.sync('node_lifecycle_monitor', 'all nodes', run);
  }

  taint() {
    return this.sync('node_lifecycle_taints', 'all nodes');
  }

  /** Looks every five seconds. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 5_000) {
      await this.fakes.clock.advance(5_000);
      await this.look();
    }
  }

  statusOf(name: string): string | undefined {
    const conditions = this.nodes.lister.get(name)?.status?.conditions;
    return conditions?.find(({ type }) => type === 'Ready')?.status;
  }

  taintsOf(name: string): string[] {
    return (this.nodes.lister.get(name)?.spec?.taints ?? []).map(
      ({ key }) => key.split('/')[1] ?? '',
    );
  }

  #apply(resource: string, name: string, body: object | undefined): void {
    const node = this.nodes.lister.get(name);
    if (node === undefined || !resource.startsWith('nodes')) return;
    const { spec, status } = body as Partial<Node>;
    const changed = status?.conditions ?? [];
    const kept = (node.status?.conditions ?? []).filter(
      ({ type }) => !changed.some((one) => one.type === type),
    );
    const taints = spec === undefined ? node.spec?.taints : (spec.taints ?? []);
    this.nodes.put({ ...node, spec: { taints }, status: { conditions: [...kept, ...changed] } });
  }
}

/** A process that takes over the memory of another, its clocks and its cluster. */
function restarted(before: Stage): Stage {
  const all = before.nodes.lister.list('').map(({ key }) => before.nodes.lister.get(key) as Node);
  const fakes = fakeContext({ now: NOW, flags: FLAGS });
  for (const row of before.fakes.memory.all()) fakes.memory.put(row);
  const { clock, context } = before.fakes;
  const { countdowns } = context;
  return new Stage(all, { ...fakes, clock, context: { ...fakes.context, clock, countdowns } });
}

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

describe('after a restart', () => {
  test('30 s of silence are 10 s before 40', async () => {
    const before = new Stage([nodeOf('a'), nodeOf('b')]);
    await before.look();
    await before.pass(30_000);
    const after = restarted(before);
    await after.look();
    await after.fakes.clock.advance(9_999);
    await after.look();
    expect(after.statusOf('a')).toBe('True');
    await after.fakes.clock.advance(2);
    await after.look();
    expect(after.statusOf('a')).toBe('Unknown');
    expect(after.told).not.toContain('RegisteredNode');
  });

  test('a heartbeat in between, a new node of that name, and no memory give the whole grace', async () => {
    const before = new Stage([nodeOf('a'), nodeOf('b'), nodeOf('c')]);
    await before.look();
    await before.pass(30_000);
    before.nodes.put(nodeOf('a', { heartbeat: 'h2' }), nodeOf('b', { uid: 'new' }));
    const forgetful = restarted(before);
    for (const stage of [restarted(before), forgetful]) {
      if (stage === forgetful)
        for (const row of stage.fakes.memory.all()) stage.fakes.memory.delete(row);
      await stage.look();
      await stage.fakes.clock.advance(11_000);
      await stage.look();
      expect(['a', 'b'].map((name) => stage.statusOf(name))).toEqual(['True', 'True']);
    }
  });

  test('a node that beats leaves nothing behind but that it is known', async () => {
    const stage = new Stage([nodeOf('a')]);
    await stage.look();
    const rows = () =>
      stage.fakes.memory.all().map(({ controller, key }) => `${controller} ${key}`);
    const first = rows();
    expect(first).toEqual(['nodes a', 'zones zone ']);
    const times = stage.fakes.memory.all().map(({ updatedAt }) => updatedAt);
    for (let at = 2; at < 30; at++) {
      stage.nodes.put(nodeOf('a', { heartbeat: `h${at}` }));
      await stage.pass(10_000);
    }
    expect(rows()).toEqual(first);
    expect(stage.fakes.memory.all().map(({ updatedAt }) => updatedAt)).toEqual(times);
  });

  test('who waits for a taint waits on, and no token is given twice', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const before = new Stage(
      names.map((name) => nodeOf(name, { ready: name < 'd' ? 'Unknown' : 'True' })),
    );
    for (const name of ['d', 'e', 'f', 'g']) before.nodes.put(nodeOf(name));
    await before.look();
    await before.taint();
    const tainted = (stage: Stage) => names.filter((name) => stage.taintsOf(name).length > 0);
    expect(tainted(before)).toHaveLength(1);
    const after = restarted(before);
    await after.look();
    await after.taint();
    expect(tainted(after)).toHaveLength(1);
    await after.fakes.clock.advance(10_000);
    await after.taint();
    expect(tainted(after)).toHaveLength(2);
  });

  test('a node that was taken away is told, and a right taint is left alone', async () => {
    const before = new Stage([nodeOf('a'), nodeOf('gone')]);
    await before.look();
    before.nodes.remove(nodeOf('gone'));
    const taints = [{ ...UNREACHABLE, timeAdded: '2026-11-30T05:00:00Z' }];
    before.nodes.put(nodeOf('lost', { ready: 'Unknown', taints }));
    const after = restarted(before);
    const looked = await after.look();
    const passed = await after.taint();
    expect([...looked.writes, ...passed.writes]).toEqual([]);
    expect(after.told).toEqual(['RegisteredNode', 'RemovingNode']);
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
