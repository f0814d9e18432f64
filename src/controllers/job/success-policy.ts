/** spec.successPolicy: an Indexed Job is done when some of its indexes are. */
import type { SuccessPolicy } from '../../api/types/index.ts';
import { countIndexes, type Intervals, parseIndexes } from './indexes.ts';

/**
 * The message of the first rule that is met, undefined if none is. A rule is met when all its
 * indexes, or as many of them as its count says, have succeeded; without indexes any count.
 */
export function metSuccessRule(
  policy: SuccessPolicy | undefined,
  completions: number,
  succeeded: Intervals,
): string | undefined {
  if (policy === undefined || succeeded.length === 0) return undefined;
  const index = policy.rules.findIndex(({ succeededIndexes, succeededCount }) => {
    if (succeededIndexes === undefined) {
      return succeededCount !== undefined && countIndexes(succeeded) >= succeededCount;
    }
    const wanted = parseIndexes(succeededIndexes, completions);
    if (wanted.length === 0) return false;
    const done = overlap(wanted, succeeded);
    return (
      done === countIndexes(wanted) || (succeededCount !== undefined && done >= succeededCount)
    );
  });
  return index < 0 ? undefined : `Matched rules at index ${index}`;
}

/** How many indexes are in both sets. */
function overlap(a: Intervals, b: Intervals): number {
  let count = 0;
  let i = 0;
  let j = 0;
  for (;;) {
    const left = a[i];
    const right = b[j];
    if (left === undefined || right === undefined) return count;
    const common = Math.min(left.last, right.last) - Math.max(left.first, right.first) + 1;
    count += Math.max(0, common);
    if (left.last <= right.last) i++;
    if (right.last <= left.last) j++;
  }
}
