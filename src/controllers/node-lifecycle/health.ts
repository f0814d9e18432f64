/** Since when nothing was heard of each node; of those that are silent for long, remembered. */
import type { ControllerContext, ControllerMemory } from '../../runtime/controller.ts';
import { COUNTDOWN_TEXT, type Countdown } from '../../runtime/countdown.ts';
import type { Judgement, Seen } from './decide-health.ts';

/** What is known of a node's health. */
export interface Health {
  readonly uid: string;
  readonly seen: Seen;
  readonly since: Countdown;
}

interface Silence {
  readonly since: Countdown;
  /** Undefined if the node never posted a status. */
  readonly heartbeatTime: string | undefined;
  readonly renewTime: string | undefined;
}

/**
 * A node that beats never gets that far, so that heartbeats don't write to the disk; one that
 * doesn't gets one row.
 */
const REMEMBERED_FROM = 0.4;

const TEXT = {
  encode: (silence: Silence): string => JSON.stringify(silence),
  /** Throws for a text that is no such row. */
  decode(text: string): Silence {
    const { since, heartbeatTime, renewTime } = JSON.parse(text) as Partial<Silence>;
    if (![heartbeatTime, renewTime].every(isTextOrNothing)) throw new Error(`no silence: ${text}`);
    return { since: COUNTDOWN_TEXT.decode(JSON.stringify(since)), heartbeatTime, renewTime };
  },
};

function isTextOrNothing(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

/** The health of all nodes, by name; that of a namesake is never given. */
export class NodeHealths {
  readonly #countdowns: ControllerContext['countdowns'];
  readonly #memory: ControllerMemory<Silence>;
  readonly #healths = new Map<string, Health>();

  constructor(context: Pick<ControllerContext, 'countdowns' | 'memory'>) {
    this.#countdowns = context.countdowns;
    this.#memory = context.memory('silence', TEXT);
  }

  /**
   * What was last seen of this very node, in this process or the one directly before. Undefined if
   * it was never seen, or if there was time since that nobody watched: it gets its whole grace.
   */
  get(name: string, uid: string): Health | undefined {
    const known = this.#healths.get(name) ?? this.#remembered(name, uid);
    if (known?.uid !== uid || !this.#countdowns.unbroken(known.since)) return undefined;
    return known;
  }

  /** The status of Ready as last seen, "" if there is none; undefined for an unknown node. */
  statusOf(name: string, uid: string): string | undefined {
    const known = this.#healths.get(name);
    return known?.uid === uid ? (known.seen.ready?.status ?? '') : undefined;
  }

  /** Takes over a judgement; gives for how long the node has been silent, milliseconds. */
  put(
    at: { readonly name: string; readonly uid: string },
    before: Health | undefined,
    { seen, stamp, graceMs }: Judgement,
    ageMs: number,
  ): number {
    const { name, uid } = at;
    const since =
      before !== undefined && stamp === 'silent' ? before.since : this.#begin(stamp, ageMs);
    this.#healths.set(name, { uid, seen, since });
    const silentMs = this.#countdowns.elapsed(since);
    this.#remember(name, uid, silentMs >= graceMs * REMEMBERED_FROM);
    return silentMs;
  }

  /** The controller itself has written this status; the silence goes on. */
  marked(name: string, uid: string, seen: Seen): void {
    const known = this.#healths.get(name);
    if (known?.uid === uid) this.#healths.set(name, { ...known, seen });
  }

  /** All nodes get their whole grace again. */
  restartAll(): void {
    for (const [name, health] of this.#healths) {
      this.#healths.set(name, { ...health, since: this.#countdowns.start() });
      this.#memory.delete(name);
    }
  }

  forget(name: string): void {
    this.#healths.delete(name);
    this.#memory.delete(name);
  }

  #begin(stamp: Judgement['stamp'], ageMs: number): Countdown {
    return this.#countdowns.start(stamp === 'born' ? Math.max(0, ageMs) : 0);
  }

  #remembered(name: string, uid: string): Health | undefined {
    const silence = this.#memory.get(name, uid);
    if (silence === undefined) return undefined;
    const { since, heartbeatTime, renewTime } = silence;
    // Only how long it was silent is of use; its status is whatever the cache shows.
    const ready = heartbeatTime === undefined ? undefined : { status: '', heartbeatTime };
    return { uid, since, seen: { ready, renewTime } };
  }

  #remember(name: string, uid: string, isSilent: boolean): void {
    const health = this.#healths.get(name);
    const { ready, renewTime } = health?.seen ?? {};
    const isWorth = isSilent && ready?.status !== 'Unknown';
    const known = this.#memory.get(name, uid);
    if (health === undefined || !isWorth) {
      if (known !== undefined) this.#memory.delete(name);
      return;
    }
    const heartbeatTime = ready?.heartbeatTime;
    const isSame = known?.heartbeatTime === heartbeatTime && known?.renewTime === renewTime;
    if (known !== undefined && isSame && this.#countdowns.unbroken(known.since)) return;
    const since = this.#countdowns.observe(health.since);
    this.#memory.set(name, uid, { since, heartbeatTime, renewTime });
  }
}
