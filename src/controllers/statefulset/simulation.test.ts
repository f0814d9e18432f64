/**
 * Generated histories of one StatefulSet: whatever a person, kubelets and the network do, an
 * ordered set moves one pod at a time, a partition is kept, and in the end all arrives.
 */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Pod } from '../../api/types/index.ts';
import { refusal } from '../_kit/testing/fake-run.ts';
import type { Action } from './actions.ts';
import { splitMemberName } from './members.ts';
import { statefulSet, template } from './testing/build.ts';
import { CONFIG, Server } from './testing/server.ts';

const ROUNDS_MAX = 60;

/** What may happen between two syncs. */
type Happening =
  | { readonly what: 'sync' }
  /** A sync over pods as they were some happenings ago; claims and revisions are fresh. */
  | { readonly what: 'staleSync'; readonly behind: number }
  /** A sync in which some write is refused. */
  | { readonly what: 'refusedSync'; readonly at: number }
  | { readonly what: 'start' | 'ready' | 'unready' | 'fail' | 'gone'; readonly which: number }
  | { readonly what: 'scale'; readonly replicas: number }
  | { readonly what: 'template'; readonly image: string }
  | { readonly what: 'partition'; readonly partition: number };

const happening = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Happening>({ what: 'sync' }) },
  fc.record({ what: fc.constant('staleSync' as const), behind: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ what: fc.constant('refusedSync' as const), at: fc.nat(6) }),
  {
    weight: 6,
    arbitrary: fc.record({
      what: fc.constantFrom('start', 'ready', 'unready', 'fail', 'gone'),
      which: fc.nat(6),
    }),
  },
  fc.record({ what: fc.constant('scale' as const), replicas: fc.nat(5) }),
  fc.record({ what: fc.constant('template' as const), image: fc.constantFrom('a', 'b', 'c') }),
  fc.record({ what: fc.constant('partition' as const), partition: fc.nat(4) }),
);

class World {
  readonly server: Server;
  readonly #views: Pod[][] = [];

  constructor(parallel: boolean) {
    this.server = new Server(statefulSet({ parallel, claims: ['data'] }));
  }

  get pods(): Pod[] {
    return [...this.server.pods.values()];
  }

  happen(next: Happening): readonly Action[] {
    const { server } = this;
    server.now += 1_000;
    this.#views.push(this.pods);
    switch (next.what) {
      case 'sync':
        return server.trySync().actions;
      case 'staleSync': {
        const view = this.#views.at(-1 - next.behind) ?? [];
        return this.#try(() => server.sync(CONFIG, view));
      }
      case 'refusedSync':
        return this.#refused(next.at);
      case 'scale':
        server.edit({ replicas: next.replicas });
        return [];
      case 'template':
        server.edit({ template: template(next.image) });
        return [];
      case 'partition': {
        const { partition } = next;
        server.edit({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition } } });
        return [];
      }
      default:
        this.#kubelet(next.what, next.which);
        return [];
    }
  }

  /** Lets everything work until it has arrived. Gives whether it did. */
  calmDown(): boolean {
    for (let round = 0; round < ROUNDS_MAX; round++) {
      for (let which = 0; which < this.pods.length; which++) this.#kubelet('start', which);
      for (let which = 0; which < this.pods.length; which++) this.#kubelet('ready', which);
      for (let left = this.pods.length; left > 0; left--) this.#kubelet('gone', left - 1);
      if (this.happen({ what: 'sync' }).every(changesNothing) && this.arrived) return true;
    }
    return false;
  }

  get arrived(): boolean {
    const { spec, status } = this.server.set;
    const wanted = spec?.replicas ?? 1;
    const partition = Math.min(wanted, spec?.updateStrategy?.rollingUpdate?.partition ?? 0);
    const updated = this.pods.filter((pod) => revisionOf(pod) === status?.updateRevision);
    return (
      this.pods.length === wanted &&
      this.pods.every((pod) => isReady(pod) && pod.metadata.deletionTimestamp === undefined) &&
      updated.length >= wanted - partition &&
      status?.readyReplicas === wanted
    );
  }

  #try(sync: () => readonly Action[]): readonly Action[] {
    const from = this.server.actions.length;
    try {
      return sync();
    } catch {
      return this.server.actions.slice(from);
    }
  }

  #refused(at: number): readonly Action[] {
    let writes = 0;
    this.server.refuse = ({ kind }) => {
      if (!/create|update|delete|renumber/.test(kind) || writes++ !== at) return undefined;
      return refusal(500, 'InternalError');
    };
    const { actions } = this.server.trySync();
    this.server.refuse = () => undefined;
    return actions;
  }

  #kubelet(what: string, which: number): void {
    const pod = this.pods[which % Math.max(1, this.pods.length)];
    if (pod === undefined) return;
    const { name, deletionTimestamp } = pod.metadata;
    const phase = pod.status?.phase;
    if (what === 'gone' && deletionTimestamp !== undefined) this.server.pods.delete(name);
    if (what === 'start' && phase === 'Pending') this.server.run(name, false);
    if (phase !== 'Running' || deletionTimestamp !== undefined) return;
    if (what === 'ready') this.server.run(name);
    if (what === 'unready') this.server.run(name, false);
    if (what === 'fail') this.server.run(name, false, 'Failed');
  }
}

function changesNothing({ kind }: Action): boolean {
  return /^read|note|sideBySide/.test(kind);
}

function isReady(pod: Pod): boolean {
  return pod.status?.conditions?.[0]?.status === 'True' && pod.status.phase === 'Running';
}

function revisionOf(pod: Pod): string | undefined {
  return pod.metadata.labels?.['controller-revision-hash'];
}

function ordinalOf(move: Action): number {
  if (move.kind === 'createPod') return move.pod.ordinal;
  const name = move.kind === 'deletePod' ? move.record.name : '';
  return splitMemberName(name)?.ordinal ?? -1;
}

const podMoves = (actions: readonly Action[]): readonly Action[] =>
  actions.filter(({ kind }) => kind === 'createPod' || kind === 'deletePod');

test('an ordered set moves one pod at a time, on healthy ground', () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 60 }), (happenings) => {
      const world = new World(false);
      for (const next of happenings) {
        const fresh = next.what === 'sync' || next.what === 'refusedSync';
        const before = world.pods;
        const moves = podMoves(world.happen(next as Happening));
        expect(moves.length).toBeLessThanOrEqual(1);
        const [move] = moves;
        if (!fresh || move === undefined) continue;
        const ordinal = ordinalOf(move);
        const wanted = world.server.set.spec?.replicas ?? 0;
        // All pods below are running, ready and staying, unless the pod itself ended or is surplus.
        const below = before.filter((pod) => {
          const other = splitMemberName(pod.metadata.name)?.ordinal ?? -1;
          return other < Math.min(ordinal, wanted);
        });
        expect(below).toHaveLength(Math.min(ordinal, wanted));
        for (const pod of below) {
          expect(isReady(pod)).toBe(true);
          expect(pod.metadata.deletionTimestamp).toBeUndefined();
        }
      }
    }),
    { numRuns: 300 },
  );
});

test('an update never deletes a pod below the partition, nor one that is updated', () => {
  fc.assert(
    fc.property(fc.boolean(), fc.array(happening, { maxLength: 60 }), (parallel, happenings) => {
      const world = new World(parallel);
      for (const next of happenings) {
        const { set } = world.server;
        const partition = set.spec?.updateStrategy?.rollingUpdate?.partition ?? 0;
        for (const move of podMoves(world.happen(next as Happening))) {
          if (move.kind !== 'deletePod' || !move.because.startsWith('rolling update')) continue;
          expect(ordinalOf(move)).toBeGreaterThanOrEqual(partition);
          const revision = move.record.labels['controller-revision-hash'];
          expect(move.because).not.toContain(`to ${revision}:`);
        }
      }
    }),
    { numRuns: 200 },
  );
});

test('whatever happened, all arrives, and then nothing is written any more', () => {
  fc.assert(
    fc.property(fc.boolean(), fc.array(happening, { maxLength: 40 }), (parallel, happenings) => {
      const world = new World(parallel);
      for (const next of happenings) world.happen(next as Happening);
      expect(world.calmDown()).toBe(true);
      const { length } = world.server.actions;
      world.happen({ what: 'sync' });
      const later = world.server.actions.slice(length);
      expect(later.filter((action) => !changesNothing(action))).toEqual([]);
    }),
    { numRuns: 200 },
  );
});

test('the same view gives the same steps', () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 30 }), (happenings) => {
      const play = (): string[] => {
        const world = new World(true);
        return happenings.flatMap((next) =>
          world.happen(next as Happening).map((action) => `${action.kind}`),
        );
      };
      expect(play()).toEqual(play());
    }),
    { numRuns: 50 },
  );
});
