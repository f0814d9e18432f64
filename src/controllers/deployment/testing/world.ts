/** A cluster of one Deployment for generated tests: ReplicaSets that make pods, pods that get ready. */
import type { Deployment, ReplicaSet } from '../../../api/types/index.ts';
import type { Action } from '../actions.ts';
import { splitReplicaSets } from '../find.ts';
import { sizeOf, wantedOf } from '../sizes.ts';
import { NOON, template } from './build.ts';
import { Server } from './server.ts';

const SECOND_MS = 1_000;

/** What may happen between two syncs. */
export type Happening =
  | { readonly what: 'sync' }
  /** The ReplicaSet controller makes and deletes pods of one ReplicaSet. */
  | { readonly what: 'pods'; readonly which: number }
  /** Pods of one ReplicaSet get ready, or stop being so. */
  | { readonly what: 'ready'; readonly which: number; readonly count: number }
  | { readonly what: 'unready'; readonly which: number; readonly count: number }
  | { readonly what: 'scale'; readonly replicas: number }
  | { readonly what: 'template'; readonly image: string };

interface Pods {
  ready: number;
  unready: number;
}

export class World {
  readonly server: Server;
  readonly #pods = new Map<string, Pods>();

  constructor(deployment: Deployment) {
    this.server = new Server(deployment, [], NOON);
  }

  /** Sum of spec.replicas. */
  get specified(): number {
    return this.#sets().reduce((sum, each) => sum + sizeOf(each), 0);
  }

  /** Pods that are available and that nothing written so far takes away (unready ones go first). */
  get lastingAvailable(): number {
    return this.#sets().reduce(
      (sum, each) => sum + Math.min(sizeOf(each), this.#of(each).ready),
      0,
    );
  }

  /** True if every ReplicaSet has carried its size out as far as deleting goes. */
  get settled(): boolean {
    return this.#sets().every((each) => this.#count(each) <= sizeOf(each));
  }

  /** Names of ReplicaSets that have pods. */
  get populated(): string[] {
    return this.#sets()
      .filter((each) => this.#count(each) > 0)
      .map(({ metadata }) => metadata.name);
  }

  /** True if the rollout has arrived: all wanted pods are new and available, and no old one is left. */
  get arrived(): boolean {
    const { newRS, oldRSs } = splitReplicaSets(this.server.deployment, this.#sets());
    const wanted = wantedOf(this.server.deployment);
    return (
      newRS !== undefined &&
      sizeOf(newRS) === wanted &&
      this.#of(newRS).ready === wanted &&
      oldRSs.every((each) => sizeOf(each) === 0 && this.#count(each) === 0)
    );
  }

  happen(happening: Happening): readonly Action[] {
    this.server.now += SECOND_MS;
    switch (happening.what) {
      case 'sync':
        return this.#sync();
      case 'pods':
        this.#at(happening.which, (set, pods) => this.#managePods(set, pods));
        return [];
      case 'ready':
      case 'unready':
        this.#at(happening.which, (set, pods) => {
          const count = happening.what === 'ready' ? happening.count : -happening.count;
          const moved = Math.max(-pods.ready, Math.min(pods.unready, count));
          this.#report(set, { ready: pods.ready + moved, unready: pods.unready - moved });
        });
        return [];
      case 'scale':
        this.#edit({ replicas: happening.replicas });
        return [];
      case 'template':
        this.#edit({ template: template(happening.image) });
        return [];
    }
  }

  /** Lets everything work until nothing moves any more, `rounds` at most. Gives the rounds needed. */
  calmDown(rounds: number): number {
    for (let round = 1; round <= rounds; round++) {
      for (let which = 0; which < this.#sets().length; which++) {
        this.happen({ what: 'pods', which });
        this.happen({ what: 'ready', which, count: Number.MAX_SAFE_INTEGER });
      }
      if (this.happen({ what: 'sync' }).length === 0 && this.arrived) return round;
    }
    return Number.POSITIVE_INFINITY;
  }

  #sync(): readonly Action[] {
    const populated = new Set(this.populated);
    const running = this.#sets().filter(({ metadata }) => populated.has(metadata.name));
    return this.server.sync(new Set(running.map(({ metadata }) => metadata.uid)));
  }

  #edit(spec: Partial<NonNullable<Deployment['spec']>>): void {
    this.server.edit((before) => ({ ...before, spec: before.spec && { ...before.spec, ...spec } }));
  }

  #sets(): ReplicaSet[] {
    return [...this.server.replicaSets.values()];
  }

  #of({ metadata }: ReplicaSet): Pods {
    return this.#pods.get(metadata.uid) ?? { ready: 0, unready: 0 };
  }

  #count(set: ReplicaSet): number {
    const { ready, unready } = this.#of(set);
    return ready + unready;
  }

  #at(which: number, change: (set: ReplicaSet, pods: Pods) => void): void {
    const sets = this.#sets();
    const set = sets[which % Math.max(1, sets.length)];
    if (set !== undefined) change(set, this.#of(set));
  }

  /** Missing pods are made unready; surplus ones go, unready ones first. */
  #managePods(set: ReplicaSet, { ready, unready }: Pods): void {
    const apart = sizeOf(set) - ready - unready;
    const goneUnready = Math.min(unready, Math.max(0, -apart));
    const goneReady = Math.max(0, -apart) - goneUnready;
    this.#report(set, {
      ready: ready - goneReady,
      unready: unready - goneUnready + Math.max(0, apart),
    });
  }

  /** The status is always true to the pods. */
  #report(set: ReplicaSet, pods: Pods): void {
    this.#pods.set(set.metadata.uid, pods);
    const { ready, unready } = pods;
    this.server.patch(set.metadata.name, (stored) => ({
      ...stored,
      status: {
        observedGeneration: stored.metadata.generation,
        replicas: ready + unready,
        readyReplicas: ready,
        availableReplicas: ready,
        terminatingReplicas: 0,
      },
    }));
  }
}
