import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { TransportError } from '../../api/errors.ts';
import { NODES, PODS } from '../../api/resource.ts';
import type { Node, Pod, Taint, Toleration } from '../../api/types/index.ts';
import { type FakeContext, fakeContext } from '../_kit/testing/fake-context.ts';
import { FakeRun, refusal } from '../_kit/testing/fake-run.ts';
import { podOf } from '../_kit/testing/objects.ts';
import { taintEvictionController } from './index.ts';

const NOW = Date.parse('2026-11-30T06:00:00Z');
const TAINT: Taint = { key: 'k', effect: 'NoExecute', timeAdded: '2026-11-30T05:00:00Z' };
const KEY = 'default/web';

function nodeOf(taints: readonly Taint[], name = 'node-1'): Node {
  return { metadata: { name, uid: `uid-${name}`, resourceVersion: '1' }, spec: { taints } };
}

function pod(tolerationSeconds: number | undefined, uid = 'uid-web'): Pod {
  const base = podOf({ name: 'web', uid });
  const tolerations: Toleration[] = [{ key: 'k', operator: 'Exists', tolerationSeconds }];
  return { ...base, spec: { ...base.spec, containers: [], tolerations } };
}

/** A controller on fakes; what is asked is synced by `work`. */
class Stage {
  readonly fakes: FakeContext;
  readonly #queues;
  readonly runs: FakeRun[] = [];

  constructor(prepare: (stage: FakeContext) => void, fakes = fakeContext({ now: NOW })) {
    this.fakes = fakes;
    prepare(fakes);
    const built = taintEvictionController.build(fakes.context);
    this.#queues = built?.queues ?? [];
    void built?.start?.(new AbortController().signal);
  }

  get nodes() {
    return this.fakes.informers.of<Node>(NODES);
  }

  get pods() {
    return this.fakes.informers.pods();
  }

  get told(): string[] {
    return this.fakes.events.events.map(({ message }) => message);
  }

  /** Syncs what was added, nodes first, then the pod once more if `timer`. */
  async work(timer = false, prepare: (run: FakeRun) => void = () => undefined): Promise<FakeRun> {
    const run = new FakeRun(this.fakes.clock.now());
    const live = this.pods.lister.get(KEY);
    if (live !== undefined) run.live(PODS, live);
    prepare(run);
    for (const { queue, reconcile } of this.#queues) {
      const keys = new Set(this.fakes.queues.get(queue.name)?.drain());
      if (timer && queue.name === 'noexec_taint_pod') keys.add(KEY);
      for (const key of keys) await reconcile(key, run);
    }
    return run;
  }

  verbs(run: FakeRun): string[] {
    return run.writes.map(({ verb, resource }) => `${verb} ${resource}`);
  }
}

function tainted(seconds: number | undefined, fakes?: FakeContext): Stage {
  return new Stage(({ informers }) => {
    informers.of<Node>(NODES).put(nodeOf([TAINT]));
    informers.pods().put(pod(seconds));
  }, fakes);
}

/** The same cluster in a process that has these memories. */
function restarted(before: Stage, prepare: (fakes: FakeContext) => void): Stage {
  const fakes = fakeContext({ now: NOW });
  for (const row of before.fakes.memory.all()) fakes.memory.put(row);
  return new Stage(prepare, fakes);
}

const EVICTED = ['patch pods/status', 'delete pods'];

describe('an eviction', () => {
  test('tells the pod why, then deletes that very pod', async () => {
    const stage = tainted(0);
    const run = await stage.work();
    expect(stage.verbs(run)).toEqual(EVICTED);
    expect(run.writes[0]?.body).toEqual({
      metadata: { uid: 'uid-web' },
      status: {
        conditions: [
          {
            type: 'DisruptionTarget',
            status: 'True',
            reason: 'DeletionByTaintManager',
            message: 'Taint manager: deleting due to NoExecute taint',
            lastTransitionTime: '2026-11-30T06:00:00Z',
            observedGeneration: undefined,
          },
        ],
        '$setElementOrder/conditions': [{ type: 'Ready' }, { type: 'DisruptionTarget' }],
      },
    });
    expect(run.writes[1]?.uid).toBe('uid-web');
    expect(stage.told).toEqual([`Marking for deletion Pod ${KEY}`]);
    expect(stage.fakes.events.events[0]?.about).not.toHaveProperty('uid');
  });

  test('is tried five times, and given up only when the server said no', async () => {
    const refused = tainted(0);
    const work = refused.work(false, (run) => {
      for (let i = 0; i < 5; i++) run.failNext('delete', refusal(403, 'Forbidden'));
    });
    await refused.fakes.clock.advance(100);
    const run = await work;
    expect(run.writes.filter(({ verb }) => verb === 'delete')).toHaveLength(5);
    expect(refused.fakes.errors).toHaveLength(1);
    const cut = tainted(0);
    const failing = cut
      .work(false, (one) => {
        for (let i = 0; i < 5; i++) one.failNext('get', new TransportError('cut'));
      })
      .catch((error: unknown) => error);
    await cut.fakes.clock.advance(100);
    expect(await failing).toBeInstanceOf(TransportError);
    expect(cut.verbs(await cut.work(true))).toEqual(EVICTED);
  });

  test('spares a pod that has the name of the one that was meant', async () => {
    const stage = tainted(0);
    const run = await stage.work(false, (one) => one.live(PODS, pod(0, 'another')));
    expect(run.writes).toEqual([]);
  });

  test('waits until the caches are as new as the server', async () => {
    const stage = tainted(0);
    stage.nodes.complete = false;
    const run = await stage.work();
    expect(run.writes).toEqual([]);
    expect(run.wishes).toHaveLength(1);
    stage.nodes.complete = true;
    expect(stage.verbs(await stage.work(true))).toEqual(EVICTED);
  });
});

describe('a pod that tolerates the taints for 60 s', () => {
  test('leaves after them', async () => {
    const stage = tainted(60);
    const run = await stage.work();
    expect(run.wishes.map(({ delayMs }) => delayMs)).toEqual([60_000]);
    await stage.fakes.clock.advance(59_999);
    expect((await stage.work(true)).writes).toEqual([]);
    await stage.fakes.clock.advance(1);
    expect(stage.verbs(await stage.work(true))).toEqual(EVICTED);
    expect((await stage.work(true)).writes).toEqual([]);
  });

  test('stays if the taints go, which is told', async () => {
    const stage = tainted(60);
    await stage.work();
    stage.nodes.put(nodeOf([]));
    await stage.work();
    await stage.fakes.clock.advance(60_000);
    expect((await stage.work(true)).writes).toEqual([]);
    expect(stage.told).toEqual([`Cancelling deletion of Pod ${KEY}`]);
  });

  test('leaves also if its node is gone by then', async () => {
    const stage = tainted(60);
    await stage.work();
    stage.nodes.remove(nodeOf([]));
    await stage.fakes.clock.advance(60_000);
    expect(stage.verbs(await stage.work(true))).toEqual(EVICTED);
  });

  test('stays if its node comes back without the taints, which is told at once', async () => {
    const stage = tainted(60);
    await stage.work();
    stage.nodes.remove(nodeOf([TAINT]));
    stage.nodes.put(nodeOf([]));
    await stage.work();
    expect(stage.told).toEqual([`Cancelling deletion of Pod ${KEY}`]);
  });

  test('is told to be cancelled when it is deleted by somebody else', async () => {
    const stage = tainted(60);
    await stage.work();
    stage.pods.remove(pod(60));
    await stage.work();
    expect(stage.told).toEqual([`Cancelling deletion of Pod ${KEY}`]);
  });

  test('that changes otherwise is not looked at', async () => {
    const stage = tainted(60);
    await stage.work();
    stage.pods.put({ ...pod(60), metadata: { ...pod(60).metadata, labels: { a: 'b' } } });
    expect(stage.fakes.queues.get('noexec_taint_pod')?.drain()).toEqual([]);
  });
});

describe('after a restart', () => {
  const asBefore = ({ informers }: FakeContext): void => {
    informers.of<Node>(NODES).put(nodeOf([TAINT]));
    informers.pods().put(pod(60));
  };

  test('a pod that waited 40 of 60 s waits 20 more', async () => {
    const before = tainted(60);
    await before.work();
    await before.fakes.clock.advance(40_000);
    const [row] = before.fakes.memory.all();
    const after = fakeContext({ now: NOW });
    await after.clock.advance(40_000);
    const fakes = {
      ...after,
      context: { ...after.context, countdowns: before.fakes.context.countdowns },
    };
    if (row !== undefined) after.memory.put(row);
    const stage = new Stage(asBefore, fakes);
    const run = await stage.work();
    expect(run.wishes.map(({ delayMs }) => delayMs)).toEqual([20_000]);
    expect(stage.told).toEqual([]);
  });

  test('without memory the clock begins anew, as upstream', async () => {
    const run = await tainted(60).work();
    expect(run.wishes.map(({ delayMs }) => delayMs)).toEqual([60_000]);
  });

  test('one whose taints went meanwhile is told to be cancelled', async () => {
    const before = tainted(60);
    await before.work();
    const stage = restarted(before, ({ informers }) => {
      informers.of<Node>(NODES).put(nodeOf([]));
      informers.pods().put(pod(60));
    });
    await stage.work();
    expect(stage.told).toEqual([`Cancelling deletion of Pod ${KEY}`]);
  });

  test('one that is gone meanwhile, too', async () => {
    const before = tainted(60);
    await before.work();
    const stage = restarted(before, ({ informers }) => {
      informers.of<Node>(NODES).put(nodeOf([TAINT]));
    });
    await stage.work();
    expect(stage.told).toEqual([`Cancelling deletion of Pod ${KEY}`]);
  });

  test('a new pod of the same name, and a taint put on anew, begin anew', async () => {
    const before = tainted(60);
    await before.work();
    await before.fakes.clock.advance(40_000);
    for (const [taint, uid] of [
      [TAINT, 'new'],
      [{ ...TAINT, timeAdded: '2026-11-30T05:59:00Z' }, 'uid-web'],
    ] as const) {
      const stage = restarted(before, ({ informers }) => {
        informers.of<Node>(NODES).put(nodeOf([taint]));
        informers.pods().put(pod(60, uid));
      });
      const run = await stage.work();
      expect(run.wishes.map(({ delayMs }) => delayMs)).toEqual([60_000]);
    }
  });
});

test('whatever happens, nobody is evicted before the time he tolerates has passed', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('pass' as const), ms: fc.nat(40_000) }),
    fc.record({ do: fc.constantFrom('taint', 'clear', 'touch', 'sync', 'replace') }),
  ) as fc.Arbitrary<{ do: string; ms?: number }>;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const stage = new Stage(({ informers }) => {
        informers.of<Node>(NODES).put(nodeOf([]));
        informers.pods().put(pod(60));
      });
      let since: number | undefined;
      let uids = 0;
      for (const { do: what, ms = 0 } of steps) {
        const { clock } = stage.fakes;
        if (what === 'pass') await clock.advance(ms);
        if (what === 'taint' && since === undefined) {
          stage.nodes.put(nodeOf([TAINT]));
          since = clock.monotonic();
        }
        if (what === 'clear') {
          stage.nodes.put(nodeOf([]));
          since = undefined;
        }
        if (what === 'touch') stage.pods.put(pod(60, stage.pods.lister.record(KEY)?.uid));
        if (what === 'replace') {
          stage.pods.put(pod(60, `again-${uids++}`));
          if (since !== undefined) since = clock.monotonic();
        }
        const run = await stage.work(true);
        if (run.writes.length === 0) continue;
        expect(since).toBeDefined();
        expect(clock.monotonic() - (since ?? 0)).toBeGreaterThanOrEqual(60_000);
      }
    }),
    { numRuns: 200 },
  );
});
