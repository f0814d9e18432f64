/**
 * What autoscalers remember beyond a restart: recommendations, changes of size, and the selector of
 * the target. Without it windows and rates begin anew, as upstream's do. The ages of what is
 * remembered only grow while somebody watches, so nothing happens sooner than without a restart.
 */
import type { ControllerContext, ControllerMemory } from '../../runtime/controller.ts';
import { COUNTDOWN_TEXT, type Countdown } from '../../runtime/countdown.ts';
import { type History, NO_HISTORY, type PendingScale, type ScaleEvent } from './history.ts';

/** Ages are put on record again after this part of what looks back on them ... */
const LOOKS_PER_WINDOW = 10;
/** ... but neither more often nor, while they matter, less often than this. */
const LOOK_MS_MIN = 1_000;
const LOOK_MS_LONGEST = 60_000;

/** A number and an age in ms. */
type Aged = readonly [number, number];

/** As it is stored: ages as of `looked`. */
interface Stored {
  readonly looked: Countdown;
  readonly recommendations: readonly Aged[];
  readonly ups: readonly Aged[];
  readonly downs: readonly Aged[];
  readonly pending?: PendingScale;
  readonly selector: string;
}

/** What is known about one autoscaler's past. */
export interface Past {
  readonly history: History;
  /** Of its target, "" if unknown. */
  readonly selector: string;
}

interface Entry extends Past {
  readonly uid: string;
  readonly shape: string;
  readonly savedAt: number;
}

const NO_PAST: Past = { history: NO_HISTORY, selector: '' };

/** The pasts of all autoscalers. */
export class Pasts {
  readonly #clock: ControllerContext['clock'];
  readonly #countdowns: ControllerContext['countdowns'];
  readonly #memory: ControllerMemory<Stored>;
  readonly #entries = new Map<string, Entry>();

  constructor({ clock, countdowns, memory }: ControllerContext) {
    this.#clock = clock;
    this.#countdowns = countdowns;
    this.#memory = memory<Stored>('past', { encode: JSON.stringify, decode: decodeStored });
    for (const { key, subjectUid, value } of this.#memory.all()) {
      this.#entries.set(key, { ...this.#restored(value), uid: subjectUid, shape: '', savedAt: 0 });
    }
  }

  /** Keys and UIDs of all that is remembered. */
  known(): readonly { readonly key: string; readonly uid: string }[] {
    return Array.from(this.#entries, ([key, { uid }]) => ({ key, uid }));
  }

  /** The past of this very autoscaler. */
  get(key: string, uid: string): Past {
    const entry = this.#entries.get(key);
    return entry?.uid === uid ? entry : NO_PAST;
  }

  /**
   * Notes a past; `lookBackMs` is how far anything looks back on it. It is remembered when
   * something new happened, and while ages matter now and then.
   */
  set(key: string, uid: string, { history, selector }: Past, lookBackMs: number): void {
    const now = this.#clock.monotonic();
    const before = this.#entries.get(key);
    const shape = shapeOf({ history, selector });
    const lookMs = Math.min(Math.max(lookBackMs / LOOKS_PER_WINDOW, LOOK_MS_MIN), LOOK_MS_LONGEST);
    const isDue = before === undefined || now - before.savedAt >= lookMs;
    const isNews = before?.uid !== uid || before.shape !== shape;
    const mustSave = isNews || (isDue && agesMatter(history, now - lookBackMs));
    const savedAt = mustSave ? now : before.savedAt;
    this.#entries.set(key, { uid, history, selector, shape, savedAt });
    if (mustSave) this.#memory.set(key, uid, this.#stored({ history, selector }, now));
  }

  delete(key: string): void {
    this.#entries.delete(key);
    this.#memory.delete(key);
  }

  #stored({ history, selector }: Past, now: number): Stored {
    const { recommendations, ups, downs, pending } = history;
    const aged = ({ change, at }: ScaleEvent): Aged => [change, Math.round(now - at)];
    return {
      looked: this.#countdowns.start(),
      recommendations: recommendations.map(({ replicas, at }) => [replicas, Math.round(now - at)]),
      ups: ups.map(aged),
      downs: downs.map(aged),
      ...(pending === undefined ? {} : { pending }),
      selector,
    };
  }

  /** What was recommended last held until the end: it counts as recommended now. */
  #restored({ looked, recommendations, ups, downs, pending, selector }: Stored): Past {
    const now = this.#clock.monotonic();
    const since = now - this.#countdowns.elapsed(looked);
    const event = ([change, age]: Aged): ScaleEvent => ({ change, at: since - age });
    const last = recommendations.length - 1;
    const history = {
      recommendations: recommendations.map(([replicas, age], index) => ({
        replicas,
        at: index === last ? now : since - age,
      })),
      ups: ups.map(event),
      downs: downs.map(event),
      ...(pending === undefined ? {} : { pending: { ...pending, at: now } }),
    };
    return { history, selector };
  }
}

/** Changes when something happens, not because time passes. */
function shapeOf({ history, selector }: Past): string {
  const { recommendations, ups, downs, pending } = history;
  const numbers = recommendations.map(({ replicas }) => replicas).sort((a, b) => a - b);
  const moments = [...ups, ...downs].map(({ change, at }) => `${change}@${at}`);
  return JSON.stringify([numbers, moments, pending ?? null, selector]);
}

/** A single recommendation is the present one: its age is of no interest. */
function agesMatter({ recommendations, ups, downs }: History, since: number): boolean {
  return recommendations.length > 1 || [...ups, ...downs].some(({ at }) => at > since);
}

function decodeStored(text: string): Stored {
  const { looked, recommendations, ups, downs, pending, selector } = JSON.parse(text) as Stored;
  const isAged = (pair: unknown): boolean =>
    Array.isArray(pair) && pair.length === 2 && pair.every(Number.isFinite);
  const isPending =
    pending === undefined ||
    [pending.from, pending.to, pending.at, pending.longestSeconds].every(Number.isFinite);
  const lists = [recommendations, ups, downs];
  if (!isPending || typeof selector !== 'string' || !lists.every((one) => one.every(isAged))) {
    throw new Error('no past of an autoscaler');
  }
  COUNTDOWN_TEXT.decode(JSON.stringify(looked));
  return { looked, recommendations, ups, downs, selector, ...(pending ? { pending } : {}) };
}
