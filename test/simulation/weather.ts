/** How badly the connection behaves: probabilities of each fault, drawn anew from time to time. */
import type { Dice } from './dice.ts';

/** What becomes of one request. */
export type Fate =
  | 'fine'
  /** Never carried out, and no answer. */
  | 'lost'
  /** Carried out, and no answer. */
  | 'answer-lost'
  /** No answer; carried out long after. */
  | 'late'
  | 'error-not-done'
  | 'error-done'
  | 'error-not-done-retry'
  | 'error-done-retry'
  | 'too-many'
  /** Another writer was quicker: only for updates and patches. */
  | 'conflict';

export interface Weather {
  readonly name: string;
  readonly fates: Readonly<Record<Fate, number>>;
  /** Milliseconds a request or answer usually travels. */
  readonly latencyMs: number;
  /** Lag of a watch behind the server: usual and longest. */
  readonly lagMs: number;
  readonly lagMaxMs: number;
  /** Time after which a watch is cut, usually. */
  readonly watchLivesMs: number;
  /** Share of watches that are refused when opened. */
  readonly watchRefused: number;
}

const ALL_FINE: Record<Fate, number> = {
  fine: 1,
  lost: 0,
  'answer-lost': 0,
  late: 0,
  'error-not-done': 0,
  'error-done': 0,
  'error-not-done-retry': 0,
  'error-done-retry': 0,
  'too-many': 0,
  conflict: 0,
};

/** Nothing goes wrong. */
export const CALM: Weather = {
  name: 'calm',
  fates: ALL_FINE,
  latencyMs: 2,
  lagMs: 5,
  lagMaxMs: 50,
  watchLivesMs: Number.POSITIVE_INFINITY,
  watchRefused: 0,
};

/** Some kinds of faults, each more or less likely. */
export function drawWeather(dice: Dice): Weather {
  const fates = { ...ALL_FINE };
  const strength = dice.pick([0.02, 0.1, 0.3, 1]);
  for (const fate of Object.keys(fates) as Fate[]) {
    if (fate !== 'fine' && dice.chance(0.4)) fates[fate] = strength * dice.between(0, 1);
  }
  return {
    name: `storm ${strength}`,
    fates,
    latencyMs: dice.pick([1, 5, 50, 400]),
    lagMs: dice.pick([1, 20, 300, 3_000]),
    lagMaxMs: dice.pick([1_000, 5_000, 20_000]),
    watchLivesMs: dice.pick([2_000, 20_000, 200_000, Number.POSITIVE_INFINITY]),
    watchRefused: dice.pick([0, 0, 0.1, 0.6]),
  };
}
