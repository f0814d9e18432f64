/** How far back the caches reach on which somebody may decide now. */
import {
  DAEMON_SETS,
  DEPLOYMENTS,
  JOBS,
  NODES,
  PODS,
  REPLICA_SETS,
  resourceId,
  STATEFUL_SETS,
} from '../../src/api/resource.ts';
import type { ModelApi } from './api-model.ts';
import type { Timeline } from './timeline.ts';

const WATCHED = new Set(
  [DEPLOYMENTS, REPLICA_SETS, PODS, JOBS, STATEFUL_SETS, DAEMON_SETS, NODES].map(resourceId),
);
/** Longest way from a decision to the server: retries, throttling, a late request. */
const DECISION_TRAVELS_MS = 3 * 60_000;
const LOOK_EVERY_MS = 200;

/** The caches of the present process. */
interface Caches {
  statuses(): readonly { readonly resource: string; readonly resourceVersion: string }[];
}

export class Lag {
  readonly #time: Timeline;
  readonly #api: ModelApi;
  /** Versions at moments, for what was compacted. */
  readonly #versions: { readonly at: number; readonly version: number }[] = [];
  #looks: { readonly at: number; readonly from: number }[] = [];
  #lookedAt = Number.NEGATIVE_INFINITY;
  #caches: Caches | undefined;
  #started = false;

  constructor(time: Timeline, api: ModelApi) {
    this.#time = time;
    this.#api = api;
  }

  /** Everything that was so since then may be what somebody believes. Model time. */
  get from(): number {
    const { now } = this.#time;
    let from = now - DECISION_TRAVELS_MS;
    for (const look of this.#looks) {
      if (look.at >= now - 2 * DECISION_TRAVELS_MS) from = Math.min(from, look.from);
    }
    return from;
  }

  look(caches: Caches | undefined): void {
    const { now } = this.#time;
    const statuses = caches?.statuses() ?? [];
    const isNew = caches !== this.#caches || (statuses.length > 0 && !this.#started);
    if (now - this.#lookedAt < LOOK_EVERY_MS && !isNew) return;
    this.#lookedAt = now;
    this.#caches = caches;
    this.#started = statuses.length > 0;
    const { version } = this.#api;
    if (this.#versions.at(-1)?.version !== version) this.#versions.push({ at: now, version });
    const oldest = now - 2 * DECISION_TRAVELS_MS;
    if (this.#looks.length > 2_000) this.#looks = this.#looks.filter(({ at }) => at >= oldest);
    if (statuses.length === 0) return;
    const watched = statuses.filter(({ resource }) => WATCHED.has(resource));
    const times = watched.map((one) => this.#asOf(one.resource, one.resourceVersion));
    const from = Math.min(now, ...times);
    const last = this.#looks.at(-1);
    if (last?.from === from || (from === now && last?.from === last?.at)) this.#looks.pop();
    this.#looks.push({ at: now, from });
  }

  /** When the first thing happened that this cache does not know. */
  #asOf(id: string, text: string): number {
    if (text === '') return this.#time.now;
    const version = Number(text);
    const history = this.#api.history(id);
    let first = history.length;
    while (first > 0 && history[first - 1]!.version > version) first--;
    const next = history[first];
    if (version >= this.#api.oldest) return next?.at ?? this.#time.now;
    return this.#versions.findLast((one) => one.version <= version)?.at ?? 0;
  }
}
