/** From the size that metrics ask for to the size that the target gets. Pure. */
import { type History, withRecommendation } from './history.ts';
import { downLimit, type FullRules, upLimit } from './rules.ts';

/** Without `behavior` a step up is at most this factor, or to this size. */
const UP_FACTOR = 2;
const UP_MINIMUM = 4;

/** What a step has to keep to. */
export interface Bounds {
  readonly min: number;
  readonly max: number;
}

/** A reason and message of a condition. */
export interface Said {
  readonly reason: string;
  readonly message: string;
}

/** What comes of a number that metrics asked for. */
export interface Normalized {
  readonly replicas: number;
  /** For AbleToScale, which is True. */
  readonly able: Said;
  /** For ScalingLimited. */
  readonly limited: Said & { readonly status: 'True' | 'False' };
  readonly history: History;
}

/** What is decided about. */
export interface Wish extends Bounds {
  readonly current: number;
  /** What the metrics ask for. */
  readonly wanted: number;
}

/** What is done before any metric is asked. */
export type Plan =
  | { readonly do: 'nothing' }
  | { readonly do: 'clamp'; readonly replicas: number; readonly reason: string }
  | { readonly do: 'measure' };

/** What scaling to zero and back depends on. */
export interface ZeroFacts {
  /** Feature gate HPAScaleToZero is on, and it was us who scaled the target to zero. */
  readonly scaledToZero: boolean;
  /** There is an object or external metric: they say something without pods, too. */
  readonly hasOutsideMetric: boolean;
}

const READY: Said = {
  reason: 'ReadyForNewScale',
  message: 'recommended size matches current size',
};
const DOWN_STABILIZED: Said = {
  reason: 'ScaleDownStabilized',
  message:
    'recent recommendations were higher than current one, applying the highest recent ' +
    'recommendation',
};
const UP_STABILIZED: Said = {
  reason: 'ScaleUpStabilized',
  message:
    'recent recommendations were lower than current one, applying the lowest recent ' +
    'recommendation',
};
const WITHIN: Said = {
  reason: 'DesiredWithinRange',
  message: 'the desired count is within the acceptable range',
};
const TOO_FEW: Said = {
  reason: 'TooFewReplicas',
  message: 'the desired replica count is less than the minimum replica count',
};
const TOO_MANY: Said = {
  reason: 'TooManyReplicas',
  message: 'the desired replica count is more than the maximum replica count',
};
const UP_TOO_FAST: Said = {
  reason: 'ScaleUpLimit',
  message: 'the desired replica count is increasing faster than the maximum scale rate',
};
const DOWN_TOO_FAST: Said = {
  reason: 'ScaleDownLimit',
  message: 'the desired replica count is decreasing faster than the maximum scale rate',
};

/** A target at zero is left alone, one out of bounds is put into them, else metrics decide. */
export function plan(current: number, { min, max }: Bounds, zero: ZeroFacts): Plan {
  if (current === 0) {
    const { scaledToZero, hasOutsideMetric } = zero;
    const mayWake = scaledToZero && (min !== 0 || hasOutsideMetric);
    return { do: mayWake ? 'measure' : 'nothing' };
  }
  if (current > max) {
    return {
      do: 'clamp',
      replicas: max,
      reason: 'Current number of replicas above Spec.MaxReplicas',
    };
  }
  if (current < min) {
    return { do: 'clamp', replicas: min, reason: BELOW_MIN };
  }
  return { do: 'measure' };
}

/** Why a target is brought up to its minimum. */
export const BELOW_MIN = 'Current number of replicas below Spec.MinReplicas';

/** Why the metrics would have the size changed, "" if they wouldn't. */
export function rescaleReason(current: number, wanted: number, metric: string): string {
  if (wanted > current) return `${metric} above target`;
  return wanted < current ? 'All metrics below target' : '';
}

/**
 * Without `behavior`: the highest of the recommendations of the last `windowMs`, then at most
 * twice the present size (or 4), then the bounds.
 */
export function normalize(wish: Wish, history: History, now: number, windowMs: number): Normalized {
  const { current, wanted, min, max } = wish;
  const cutoff = now - windowMs;
  const recent = history.recommendations.filter(({ at }) => at >= cutoff);
  const stable = Math.max(wanted, ...recent.map(({ replicas }) => replicas));
  const { replicas, why } = bounded({ current, wanted: stable, min, max });
  return {
    replicas,
    able: stable === wanted ? READY : DOWN_STABILIZED,
    limited: limitedBy(replicas === stable, why),
    history: withRecommendation(history, wanted, now, windowMs),
  };
}

/** At most twice the present size (or 4), then the bounds. */
function bounded({ current, wanted, min, max }: Wish): Step {
  const highest = Math.max(UP_FACTOR * current, UP_MINIMUM);
  if (wanted < min) return { replicas: min, why: TOO_FEW };
  if (wanted <= Math.min(max, highest)) return { replicas: wanted, why: WITHIN };
  return max > highest ? { replicas: highest, why: UP_TOO_FAST } : { replicas: max, why: TOO_MANY };
}

/** A size, and what kept it from being another. */
interface Step {
  readonly replicas: number;
  readonly why: Said;
}

function limitedBy(isFree: boolean, { reason, message }: Said): Normalized['limited'] {
  return { status: isFree ? 'False' : 'True', reason, message };
}

/**
 * With `behavior`: the present size is drawn between the lowest recommendation of the window for
 * going up and the highest of the one for going down, then policies and bounds limit the step.
 */
export function normalizeByRules(
  wish: Wish,
  rules: FullRules,
  history: History,
  now: number,
): Normalized {
  const { current, wanted } = wish;
  const { up, down } = rules;
  const within = (seconds: number): number[] => {
    const cutoff = now - seconds * 1_000;
    const recent = history.recommendations.filter(({ at }) => at > cutoff);
    return recent.map(({ replicas }) => replicas);
  };
  const lowest = Math.min(wanted, ...within(up.windowSeconds));
  const highest = Math.max(wanted, ...within(down.windowSeconds));
  const stable = Math.min(Math.max(current, lowest), highest);
  const { replicas, why } = step({ ...wish, wanted: stable }, rules, history, now);
  const stabilized = wanted >= current ? UP_STABILIZED : DOWN_STABILIZED;
  const keepMs = Math.max(up.windowSeconds, down.windowSeconds) * 1_000;
  return {
    replicas,
    able: stable === wanted ? READY : stabilized,
    limited: limitedBy(replicas === stable, why),
    history: withRecommendation(history, wanted, now, keepMs),
  };
}

/** One step in the direction that is wanted, no further than policies and bounds allow. */
function step(
  { current, wanted, min, max }: Wish,
  { up, down }: FullRules,
  history: History,
  now: number,
): Step {
  if (wanted > current) {
    const limit = Math.max(current, upLimit(up, current, history, now));
    const highest = Math.min(max, limit);
    if (wanted > highest) return { replicas: highest, why: max > limit ? UP_TOO_FAST : TOO_MANY };
  } else if (wanted < current) {
    const limit = Math.min(current, downLimit(down, current, history, now));
    const lowest = Math.max(min, limit);
    if (wanted < lowest) return { replicas: lowest, why: min < limit ? DOWN_TOO_FAST : TOO_FEW };
  }
  return { replicas: wanted, why: WITHIN };
}
