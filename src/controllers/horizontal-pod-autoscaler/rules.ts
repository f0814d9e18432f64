/** How fast an autoscaler may go, as its `behavior` says. Pure. */
import type { HorizontalPodAutoscaler } from '../../api/types/index.ts';
import { changeWithin, type History } from './history.ts';

/** The spec of an autoscaler. */
export type AutoscalerSpec = NonNullable<HorizontalPodAutoscaler['spec']>;
/** Its `behavior`, and the rules of one direction in it. */
export type Behavior = NonNullable<AutoscalerSpec['behavior']>;
export type Rules = NonNullable<Behavior['scaleUp']>;
type Policy = NonNullable<Rules['policies']>[number];

const INT32_MAX = 2 ** 31 - 1;

/** The API server fills these in wherever `behavior` is given at all. */
const DEFAULT_UP: readonly Policy[] = [
  { type: 'Pods', value: 4, periodSeconds: 15 },
  { type: 'Percent', value: 100, periodSeconds: 15 },
];
const DEFAULT_DOWN: readonly Policy[] = [{ type: 'Percent', value: 100, periodSeconds: 15 }];

/** The rules of both directions, nothing left open. */
export interface FullRules {
  readonly up: OneWay;
  readonly down: OneWay;
}

/** The rules of one direction. */
export interface OneWay {
  readonly windowSeconds: number;
  readonly select: string;
  readonly policies: readonly Policy[];
}

/** The rules of a `behavior`; a window for going down that isn't given is the flag's. */
export function rulesOf(behavior: Behavior, downWindowMs: number): FullRules {
  const { scaleUp, scaleDown } = behavior;
  return {
    up: {
      windowSeconds: scaleUp?.stabilizationWindowSeconds ?? 0,
      select: scaleUp?.selectPolicy ?? 'Max',
      policies: scaleUp?.policies ?? DEFAULT_UP,
    },
    down: {
      windowSeconds: scaleDown?.stabilizationWindowSeconds ?? Math.trunc(downWindowMs / 1_000),
      select: scaleDown?.selectPolicy ?? 'Max',
      policies: scaleDown?.policies ?? DEFAULT_DOWN,
    },
  };
}

/** Longest period of the policies of one direction, seconds. */
export function longestPeriod({ policies }: OneWay): number {
  return policies.reduce((longest, { periodSeconds }) => Math.max(longest, periodSeconds), 0);
}

/** The size at the beginning of a policy's period. */
function startOf(policy: Policy, current: number, { ups, downs }: History, now: number): number {
  const added = changeWithin(ups, policy.periodSeconds, now);
  const removed = changeWithin(downs, policy.periodSeconds, now);
  return current - added + removed;
}

/** The most replicas that the policies allow now; may be below the present size. */
export function upLimit(rules: OneWay, current: number, history: History, now: number): number {
  if (rules.select === 'Disabled') return current;
  const proposals = rules.policies.map((policy) => {
    const start = startOf(policy, current, history, now);
    // Rounded up: a small target would never grow otherwise.
    return policy.type === 'Pods'
      ? start + policy.value
      : Math.ceil(start * (1 + policy.value / 100));
  });
  return rules.select === 'Min'
    ? Math.min(INT32_MAX, ...proposals)
    : Math.max(-INT32_MAX - 1, ...proposals);
}

/** The fewest replicas that the policies allow now; may be above the present size. */
export function downLimit(rules: OneWay, current: number, history: History, now: number): number {
  if (rules.select === 'Disabled') return current;
  const proposals = rules.policies.map((policy) => {
    const start = startOf(policy, current, history, now);
    return policy.type === 'Pods'
      ? start - policy.value
      : Math.trunc(start * (1 - policy.value / 100));
  });
  return rules.select === 'Min'
    ? Math.max(-INT32_MAX - 1, ...proposals)
    : Math.min(INT32_MAX, ...proposals);
}
