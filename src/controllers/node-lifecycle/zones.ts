/** The zones: their state, and the queues of nodes that wait for a NoExecute taint; remembered. */
import type { ControllerContext, ControllerMemory } from '../../runtime/controller.ts';
import { COUNTDOWN_TEXT, type Countdown } from '../../runtime/countdown.ts';
import type { ZoneState } from './decide-zones.ts';
import { TaintLimiter, type Waiting, ZoneQueue } from './zone-queue.ts';

interface Zone {
  readonly queue: ZoneQueue;
  /** When a token was last used; undefined: never. */
  used: Countdown | undefined;
}

interface Stored {
  readonly state: ZoneState;
  readonly perSecond: number;
  readonly used: Countdown | undefined;
  readonly waiting: readonly Waiting[];
}

const STATES: ReadonlySet<unknown> = new Set<ZoneState>(['new', 'normal', 'partial', 'full']);

const TEXT = {
  encode: (zone: Stored): string => JSON.stringify(zone),
  /** Throws for a text that is no such row. */
  decode(text: string): Stored {
    const { state, perSecond, used, waiting } = JSON.parse(text) as Partial<Stored>;
    const isWhole = STATES.has(state) && typeof perSecond === 'number' && Array.isArray(waiting);
    if (!isWhole || state === undefined) throw new Error(`no zone: ${text}`);
    const since = used && COUNTDOWN_TEXT.decode(JSON.stringify(used));
    return { state, perSecond, used: since, waiting };
  },
};

/** A zone has no UID. */
const NO_UID = '';
/** Keys of rows may hold no NUL; before a zone, as the empty one is one as well. */
const keyOfZone = (zone: string): string => `zone ${zone.replaceAll('\u0000', '%')}`;

export interface ZonesOptions {
  readonly context: Pick<ControllerContext, 'countdowns' | 'memory' | 'clock'>;
  /** Nodes per second that a zone begins with. */
  readonly perSecond: number;
  /** A zone that was not there before. */
  added(zone: string): void;
}

/** All zones that have nodes; the queue of one that had some stays. */
export class Zones {
  readonly #options: ZonesOptions;
  readonly #memory: ControllerMemory<Stored>;
  readonly #zones = new Map<string, Zone>();
  readonly #states = new Map<string, ZoneState>();
  readonly #saved = new Map<string, string>();
  #isFirstSave = true;

  constructor(options: ZonesOptions) {
    this.#options = options;
    this.#memory = options.context.memory('zones', TEXT);
  }

  get states(): ReadonlyMap<string, ZoneState> {
    return this.#states;
  }

  /** Makes the zone of a node known: as it is remembered, or new. */
  ensure(zone: string): void {
    if (this.#states.has(zone)) return;
    const { context, perSecond, added } = this.#options;
    const stored = this.#memory.get(keyOfZone(zone), NO_UID);
    this.#states.set(zone, stored?.state ?? 'new');
    const rate = stored?.perSecond ?? perSecond;
    const limiter = new TaintLimiter(rate, this.#monotonic, this.#tokens(stored, rate));
    const queue = new ZoneQueue(limiter, this.#monotonic);
    const used = stored?.used && context.countdowns.observe(stored.used);
    this.#zones.set(zone, { queue, used });
    for (const waiting of stored?.waiting ?? []) queue.add(waiting);
    added(zone);
  }

  /** Its queue, also if it lost its last node at the last look: what waits there may go on. */
  queueOf(zone: string): ZoneQueue {
    if (!this.#zones.has(zone)) this.ensure(zone);
    const known = this.#zones.get(zone);
    if (known === undefined) throw new Error(`zone ${zone} is not known`);
    return known.queue;
  }

  /** Names of all zones with a queue. */
  names(): string[] {
    return [...this.#zones.keys()];
  }

  setState(zone: string, state: ZoneState): void {
    this.#states.set(zone, state);
  }

  /** No node is in it any more. */
  drop(zone: string): void {
    this.#states.delete(zone);
    this.#saved.delete(zone);
    this.#memory.delete(keyOfZone(zone));
  }

  /** A node of the zone was taken: its token is used. */
  taken(zone: string): void {
    const known = this.#zones.get(zone);
    if (known !== undefined) known.used = this.#options.context.countdowns.start();
  }

  /** Milliseconds until a node can be taken somewhere; Infinity: none waits, or none may. */
  waitMs(): number {
    const waits = [...this.#zones.values()].map(({ queue }) =>
      queue.size === 0 ? Infinity : queue.limiter.waitMs(),
    );
    return Math.min(Infinity, ...waits);
  }

  /** Remembers what has changed; of the process before only zones that are still there. */
  save(): void {
    if (this.#isFirstSave) {
      const keys = new Set([...this.#states.keys()].map(keyOfZone));
      for (const { key } of this.#memory.all()) if (!keys.has(key)) this.#memory.delete(key);
      this.#isFirstSave = false;
    }
    for (const [zone, state] of this.#states) {
      const known = this.#zones.get(zone);
      if (known === undefined) continue;
      const { queue, used } = known;
      const waiting = queue.waiting().map(({ name, uid }) => ({ name, uid }));
      const stored = { state, perSecond: queue.limiter.perSecond, used, waiting };
      const text = TEXT.encode(stored);
      if (this.#saved.get(zone) === text) continue;
      this.#saved.set(zone, text);
      this.#memory.set(keyOfZone(zone), NO_UID, stored);
    }
  }

  readonly #monotonic = (): number => this.#options.context.clock.monotonic();

  /** What has come since the last token was used, by time that was watched. */
  #tokens(stored: Stored | undefined, perSecond: number): number {
    if (stored?.used === undefined) return stored?.state === 'full' && perSecond === 0 ? 0 : 1;
    const passedMs = this.#options.context.countdowns.elapsed(stored.used);
    return Math.min(1, (passedMs / 1_000) * perSecond);
  }
}
