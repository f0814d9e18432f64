/**
 * What autoscalers remember beyond a restart: recommendations, changes of size, and the selector of
 * the target. Without it windows and rates begin anew, as upstream's do. The ages of what is
 * remembered only grow while somebody watches, so nothing happens sooner than without a restart.
 */
import type { ControllerContext, ControllerMemory } from '../../runtime/controller.ts';
import { COUNTDOWN_TEXT, type Countdown } from '../../runtime/countdown.ts';
import {
  type History,
  NO_HISTORY,
  type PendingScale,
  type Recommendation,
  type ScaleEvent,
} from './history.ts';

/** While recommendations go to and fro, their times are put on record after this part of the window. */
const LOOKS_PER_WINDOW = 10;
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
  /** Numbers that come and go: each may have been recommended until `slackMs` after `looked`. */
  readonly restless: readonly number[];
  readonly slackMs: number;
}

/** What is known about one autoscaler's past. */
export interface Past {
  readonly history: History;
  /** Of its target, "" if unknown. */
  readonly selector: string;
}

interface Entry extends Past {
  readonly uid: string;
  /** What was put on record last. */
  readonly saved: Saved;
}

interface Saved {
  readonly shape: string;
  readonly at: number;
  readonly recommendations: readonly Recommendation[];
  readonly restless: readonly number[];
}

const NOT_SAVED: Saved = Object.freeze({ shape: '', at: 0, recommendations: [], restless: [] });
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
      this.#entries.set(key, { ...this.#restored(value), uid: subjectUid, saved: NOT_SAVED });
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
   * something new happens. Recommendations that go to and fro are nothing new each time.
   */
  set(key: string, uid: string, { history, selector }: Past, lookBackMs: number): void {
    const now = this.#clock.monotonic();
    const known = this.#entries.get(key);
    const before = known?.uid === uid ? known.saved : NOT_SAVED;
    const lookMs = Math.min(Math.max(lookBackMs / LOOKS_PER_WINDOW, LOOK_MS_MIN), LOOK_MS_LONGEST);
    const shape = shapeOf({ history, selector });
    const isNews = before.shape !== shape;
    const since = movedSince(history.recommendations, before.recommendations);
    const isOver = before.restless.length > 0 && now - before.at >= lookMs;
    const isRestless = since.some((replicas) => !before.restless.includes(replicas));
    let saved = before;
    if (isNews || isOver || isRestless) {
      const isCalm = isNews || since.length === 0;
      const restless = isCalm ? [] : [...new Set([...before.restless, ...since])];
      saved = { shape, at: now, recommendations: history.recommendations, restless };
      const slackMs = restless.length > 0 ? lookMs : 0;
      this.#memory.set(key, uid, this.#stored({ history, selector }, now, { restless, slackMs }));
    }
    this.#entries.set(key, { uid, history, selector, saved });
  }

  delete(key: string): void {
    this.#entries.delete(key);
    this.#memory.delete(key);
  }

  #stored(
    { history, selector }: Past,
    now: number,
    slack: Pick<Stored, 'restless' | 'slackMs'>,
  ): Stored {
    const { recommendations, ups, downs, pending } = history;
    const aged = ({ change, at }: ScaleEvent): Aged => [change, Math.round(now - at)];
    return {
      looked: this.#countdowns.start(),
      recommendations: recommendations.map(({ replicas, at }) => [replicas, Math.round(now - at)]),
      ups: ups.map(aged),
      downs: downs.map(aged),
      ...(pending === undefined ? {} : { pending }),
      selector,
      ...slack,
    };
  }

  /** What was recommended last held until the end: it counts as recommended now. */
  #restored(stored: Stored): Past {
    const { looked, recommendations, ups, downs, pending, selector, restless, slackMs } = stored;
    const now = this.#clock.monotonic();
    const since = now - this.#countdowns.elapsed(looked);
    const event = ([change, age]: Aged): ScaleEvent => ({ change, at: since - age });
    const last = recommendations.length - 1;
    const atOf = ([replicas, age]: Aged, index: number): number => {
      if (index === last) return now;
      return restless.includes(replicas) ? Math.min(now, since + slackMs) : since - age;
    };
    const history = {
      recommendations: recommendations.map((pair, index) => ({
        replicas: pair[0],
        at: atOf(pair, index),
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

/** Numbers recommended since they were put on record; the last one there is fresh anyway. */
function movedSince(
  now: readonly Recommendation[],
  saved: readonly Recommendation[],
): readonly number[] {
  const fresh = saved.at(-1)?.replicas;
  const isStill = now.at(-1)?.replicas === fresh;
  return now
    .filter(({ replicas, at }) => {
      if (replicas === fresh) return !isStill;
      return (saved.find((one) => one.replicas === replicas)?.at ?? at - 1) < at;
    })
    .map(({ replicas }) => replicas);
}

function decodeStored(text: string): Stored {
  const stored = JSON.parse(text) as Stored;
  const { looked, recommendations, ups, downs, pending, selector, restless, slackMs } = stored;
  const isAged = (pair: unknown): boolean =>
    Array.isArray(pair) && pair.length === 2 && pair.every(Number.isFinite);
  const isPending =
    pending === undefined ||
    [pending.from, pending.to, pending.at, pending.longestSeconds].every(Number.isFinite);
  const lists = [recommendations, ups, downs];
  const isPlain = typeof selector === 'string' && [slackMs, ...restless].every(Number.isFinite);
  if (!isPending || !isPlain || !lists.every((one) => one.every(isAged))) {
    throw new Error('no past of an autoscaler');
  }
  COUNTDOWN_TEXT.decode(JSON.stringify(looked));
  return stored;
}
