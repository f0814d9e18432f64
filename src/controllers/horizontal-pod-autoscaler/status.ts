/** The status of an autoscaler: its conditions, and whether it says something new. Pure. */
import { timeText } from '../../api/time.ts';
import type { HorizontalPodAutoscaler } from '../../api/types/index.ts';

/** A status, one metric in it, and one condition. */
export type AutoscalerStatus = NonNullable<HorizontalPodAutoscaler['status']>;
export type MetricStatus = NonNullable<AutoscalerStatus['currentMetrics']>[number];
export type AutoscalerCondition = NonNullable<AutoscalerStatus['conditions']>[number];

/** What a condition says. */
export interface Statement {
  readonly type: 'AbleToScale' | 'ScalingActive' | 'ScalingLimited' | 'ScaledToZero';
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** The conditions with this one set; its time only moves with its status. */
export function withStatement(
  conditions: readonly AutoscalerCondition[],
  statement: Statement,
  now: number,
): readonly AutoscalerCondition[] {
  const before = conditions.find(({ type }) => type === statement.type);
  const isSameStatus = before?.status === statement.status;
  const lastTransitionTime = isSameStatus ? before.lastTransitionTime : timeText(now);
  const next = { ...statement, lastTransitionTime };
  if (before === undefined) return [...conditions, next];
  return conditions.map((one) => (one === before ? next : one));
}

/** The conditions without one of this type. */
export function withoutStatement(
  conditions: readonly AutoscalerCondition[],
  type: Statement['type'],
): readonly AutoscalerCondition[] {
  return conditions.filter((one) => one.type !== type);
}

/** True if both say the same to the API server: what is empty or 0 is as good as absent. */
export function sameStatus(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isEmpty(a) || isEmpty(b)) return isEmpty(a) && isEmpty(b);
  if (typeof a !== 'object' || typeof b !== 'object') return false;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => sameStatus(item, b[index]));
  }
  const [left, right] = [a as Fields, b as Fields];
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...names].every((name) => sameStatus(left[name], right[name]));
}

type Fields = Readonly<Record<string, unknown>>;

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === 0) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
