/** Deletions that were announced and got no answer: which of them are sent again. */
import { isAvailable, isTerminal } from '../../api/pod.ts';
import type { Knowledge } from './actions.ts';
import { isOrdered, isRunningAndReady, type Member, minReadySecondsOf } from './members.ts';
import { maxUnavailableOf, partitionOf } from './rolling.ts';
import { isRolling } from './status.ts';

/** The pods by what is to become of them. */
export interface Places {
  /** One for each wanted ordinal, ascending; missing ones as plans. */
  readonly replicas: readonly Member[];
  /** Those of other ordinals, descending. */
  readonly condemned: readonly Member[];
}

/**
 * The pods whose deletion is sent again: those that the rules would delete now if nothing had been
 * announced. A pod that is unavailable by now holds them up as it holds up any other deletion.
 */
export function toSendAgain(
  known: Knowledge,
  { replicas, condemned }: Places,
  manyAtOnce: boolean,
): readonly Member[] {
  const { set, update, now } = known;
  const minReadySeconds = minReadySecondsOf(set);
  const isUp = (pod: Member): boolean => isAvailable(pod, minReadySeconds, now) && !isGoing(pod);
  const isWell = (pod: Member): boolean => isRunningAndReady(pod) && isUp(pod);
  const isCalm = !isOrdered(set) || replicas.every(isWell);
  const ended = replicas.filter((pod) => pod.unanswered && isTerminal(pod));
  const lowest = condemned.findLast((pod) => !isWell(pod));
  const mayGo = (pod: Member): boolean => !isOrdered(set) || isWell(pod) || pod === lowest;
  const surplus = isCalm ? condemned.filter((pod) => pod.unanswered && mayGo(pod)) : [];
  if (!isRolling(set) || !isCalm || (isOrdered(set) && condemned.length > 0)) {
    return [...ended, ...surplus];
  }
  const inRange = replicas.slice(partitionOf(set)).reverse();
  const outdated = inRange.filter((pod) => pod.unanswered && pod.revision !== update.name);
  const [highest] = outdated;
  if (highest === undefined) return [...ended, ...surplus];
  const above = inRange.slice(0, inRange.indexOf(highest));
  const one = above.every(isUp) ? 1 : 0;
  const room = manyAtOnce
    ? maxUnavailableOf(set) - replicas.filter((pod) => !isUp(pod)).length
    : one;
  return [...new Set([...ended, ...surplus, ...outdated.slice(0, Math.max(0, room))])];
}

/** Known to be going, not only announced. */
function isGoing({ deleting, unanswered }: Member): boolean {
  return deleting && unanswered !== true;
}
