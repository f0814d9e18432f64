/**
 * Generated histories of one DaemonSet: whatever a person, kubelets, nodes and a lagging watch do,
 * our deletions leave enough available pods, no node runs two, and in the end every node is served.
 */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Pod } from '../../api/types/index.ts';
import { refusal } from '../_kit/testing/fake-run.ts';
import type { Action } from './actions.ts';
import { type DaemonPod, HASH_LABEL } from './pod.ts';
import { daemonSet, node, template } from './testing/build.ts';
import { Server } from './testing/server.ts';

const ROUNDS_MAX = 80;

type Happening =
  | { readonly what: 'sync' | 'refusedSync' | 'seen' }
  | { readonly what: 'start' | 'ready' | 'unready' | 'fail' | 'gone'; readonly which: number }
  | { readonly what: 'addNode' | 'removeNode'; readonly which: number }
  | { readonly what: 'taint'; readonly which: number; readonly taint: string }
  | { readonly what: 'template'; readonly image: string };

const which = fc.nat(7);
const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ what: fc.constantFrom('sync' as const, 'refusedSync') }) },
  { weight: 4, arbitrary: fc.record({ what: fc.constant('seen' as const) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      what: fc.constantFrom('start' as const, 'ready', 'unready', 'fail', 'gone'),
      which,
    }),
  },
  fc.record({ what: fc.constantFrom('addNode' as const, 'removeNode'), which }),
  fc.record({
    what: fc.constant('taint' as const),
    which,
    taint: fc.constantFrom('', 'x:NoSchedule', 'x:NoExecute'),
  }),
  fc.record({ what: fc.constant('template' as const), image: fc.constantFrom('a', 'b', 'c') }),
);

const limits = fc.oneof(
  fc.record({ maxUnavailable: fc.integer({ min: 1, max: 3 }), maxSurge: fc.constant(0) }),
  fc.record({ maxUnavailable: fc.constant(0), maxSurge: fc.integer({ min: 1, max: 3 }) }),
);

class World {
  readonly server: Server;

  constructor(limit: { readonly maxUnavailable: number; readonly maxSurge: number }) {
    this.server = new Server(daemonSet(limit), [node('n0'), node('n1'), node('n2')]);
  }

  get pods(): Pod[] {
    return [...this.server.pods.values()];
  }

  /** Staying pods by node. */
  staying(): Map<string, DaemonPod[]> {
    const nodes = new Map<string, DaemonPod[]>();
    for (const pod of this.server.members()) {
      const over = pod.record.phase === 'Failed' || pod.record.phase === 'Succeeded';
      if (!pod.deleting && !over) nodes.set(pod.node, [...(nodes.get(pod.node) ?? []), pod]);
    }
    return nodes;
  }

  happen(next: Happening): readonly Action[] {
    const { server } = this;
    server.now += 1_000;
    for (const [on, failed] of server.failures) {
      server.failures.set(on, { ...failed, elapsedMs: failed.elapsedMs + 1_000 });
    }
    switch (next.what) {
      case 'sync':
        return server.trySync().actions;
      case 'refusedSync':
        return this.#refused();
      case 'seen':
        server.unseen = false;
        return [];
      case 'addNode':
        server.nodes.set(`n${next.which}`, node(`n${next.which}`));
        return [];
      case 'removeNode':
        server.nodes.delete(`n${next.which}`);
        this.#collect(`n${next.which}`);
        return [];
      case 'taint': {
        const name = `n${next.which}`;
        const taints = next.taint === '' ? [] : [next.taint];
        if (server.nodes.has(name)) server.nodes.set(name, node(name, ...taints));
        return [];
      }
      case 'template':
        server.edit({ template: template(next.image) });
        return [];
      default:
        this.#kubelet(next.what, next.which);
        return [];
    }
  }

  /** Lets everything work until it has arrived. Gives whether it did. */
  calmDown(): boolean {
    for (let round = 0; round < ROUNDS_MAX; round++) {
      for (let at = 0; at < this.pods.length; at++) this.#kubelet('start', at);
      for (let at = 0; at < this.pods.length; at++) this.#kubelet('ready', at);
      for (let left = this.pods.length; left > 0; left--) this.#kubelet('gone', left - 1);
      this.happen({ what: 'seen' });
      const quiet = this.happen({ what: 'sync' }).every(changesNothing);
      if (quiet && this.arrived) return true;
      for (const [on, failed] of this.server.failures) {
        this.server.failures.set(on, { ...failed, elapsedMs: failed.elapsedMs + 900_000 });
      }
    }
    return false;
  }

  /** One new pod on each untainted node, none elsewhere but where NoSchedule lets it stay. */
  get arrived(): boolean {
    const { server } = this;
    const staying = this.staying();
    const served = [...server.nodes.values()].every(({ name, taints }) => {
      const there = staying.get(name) ?? [];
      if (taints.length > 0) return there.length === 0 || taints[0]?.effect === 'NoSchedule';
      return there.length === 1 && there[0]?.record.labels[HASH_LABEL] === server.hash;
    });
    return served && server.set.status?.numberUnavailable === 0;
  }

  #refused(): readonly Action[] {
    this.server.refuse = ({ kind }) =>
      /syncPods|Revision|updateStatus/.test(kind) ? refusal(500, 'InternalError') : undefined;
    const { actions } = this.server.trySync();
    this.server.refuse = () => undefined;
    return actions;
  }

  /** Pods of a node that is gone are collected by others. */
  #collect(name: string): void {
    for (const { node: on, record } of this.server.members()) {
      if (on === name && record.nodeName !== '') this.server.pods.delete(record.name);
    }
  }

  #kubelet(what: string, at: number): void {
    const pod = this.pods[at % Math.max(1, this.pods.length)];
    if (pod === undefined) return;
    const { name, deletionTimestamp } = pod.metadata;
    const phase = pod.status?.phase;
    if (what === 'gone' && deletionTimestamp !== undefined) this.server.pods.delete(name);
    const on = this.server.members().find(({ record }) => record.name === name)?.node ?? '';
    if (what === 'start' && phase === 'Pending' && this.server.nodes.has(on)) {
      this.server.run(name, false);
    }
    if (phase !== 'Running' || deletionTimestamp !== undefined) return;
    if (what === 'ready') this.server.run(name);
    if (what === 'unready') this.server.run(name, false);
    if (what === 'fail') this.server.run(name, false, 'Failed');
  }
}

function changesNothing(action: Action): boolean {
  return /^(listPods|expectationsMet|note|again)$/.test(action.kind);
}

function creations(actions: readonly Action[]): string[] {
  return actions.flatMap((action) =>
    action.kind === 'syncPods' ? action.create.map(({ node: on }) => on) : [],
  );
}

function updates(actions: readonly Action[]): DaemonPod[] {
  return actions.flatMap((action) =>
    action.kind === 'syncPods'
      ? action.remove
          .filter(({ because }) => /nodes unavailable/.test(because))
          .map(({ pod }) => pod)
      : [],
  );
}

test('without surge no pod is made beside another, with surge at most one', () => {
  fc.assert(
    fc.property(limits, fc.array(happening, { maxLength: 80 }), (limit, happenings) => {
      const world = new World(limit);
      for (const next of happenings) {
        const before = world.staying();
        const made = creations(world.happen(next));
        for (const on of made) {
          const there = before.get(on)?.length ?? 0;
          expect(there).toBeLessThanOrEqual(limit.maxSurge > 0 ? 1 : 0);
          expect(made.filter((other) => other === on)).toHaveLength(1);
        }
      }
    }),
    { numRuns: 300 },
  );
});

test('an update deletes no more available pods than maxUnavailable leaves room for', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 3 }),
      fc.array(happening, { maxLength: 80 }),
      (maxUnavailable, happenings) => {
        const world = new World({ maxUnavailable, maxSurge: 0 });
        for (const next of happenings) {
          const before = world.staying();
          const deleted = updates(world.happen(next));
          if (deleted.length === 0) continue;
          const unserved = [...world.server.nodes.values()].filter(({ name, taints }) => {
            const ready = before.get(name)?.some(({ record }) => record.ready) ?? false;
            return taints.length === 0 && !ready;
          });
          expect(unserved.length + deleted.length).toBeLessThanOrEqual(maxUnavailable);
        }
      },
    ),
    { numRuns: 300 },
  );
});

test('whatever happened, every node is served in the end, and then nothing is written', () => {
  fc.assert(
    fc.property(limits, fc.array(happening, { maxLength: 50 }), (limit, happenings) => {
      const world = new World(limit);
      for (const next of happenings) world.happen(next);
      expect(world.calmDown()).toBe(true);
      expect(world.happen({ what: 'sync' }).every(changesNothing)).toBe(true);
    }),
    { numRuns: 200 },
  );
});
