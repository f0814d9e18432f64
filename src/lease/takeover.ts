/** Whether a Lease that was read may be taken, and how: upstream's rule and our two early ones. */
import type { ElectionState, Rules, Take } from './state.ts';
import { type SeenLease, sameTerm, termOf } from './term.ts';

/** Retry periods without a change after which our own holder of an earlier boot is succeeded. */
const REBOOT_QUIET_PERIODS = 2;

type Manner = Omit<Take, 'leaseTransitions'>;

/**
 * How `seen` (already observed into `state`) may be taken, or in how many milliseconds it may be at
 * the earliest. `startedAt` is the monotonic time at which the read was sent.
 *
 * A Lease without a holder or with our own identity is free. Any other is free once it has stood
 * unchanged for the duration in its record. Our own dead process is succeeded at once if the Lease
 * shows what it may have written last on this boot, or, if it died on an earlier boot, after two
 * retry periods without a change.
 */
export function mayTake(
  state: ElectionState,
  seen: SeenLease,
  startedAt: number,
  rules: Rules,
): Manner | number {
  const { holderIdentity: holder, renewTime, leaseDurationSeconds } = seen.record;
  const followsOwn = isRemembered(seen, rules);
  if (holder === rules.identity) return ownIdentity(state, seen, followsOwn);
  const dead = rules.dead;
  const succeeds =
    dead !== undefined &&
    (holder === dead.identity || holder === '') &&
    sameTerm(dead, termOf(seen));
  if (succeeds && dead.sameBoot && dead.renewTimes.includes(renewTime)) {
    return { how: 'instant', followsOwn };
  }
  if (holder === '') return { how: 'released-by-other', followsOwn };
  const quietMs = startedAt - state.observedAt;
  const expiresInMs = leaseDurationSeconds * 1_000 - quietMs;
  if (expiresInMs <= 0) return { how: 'expired', followsOwn };
  if (!succeeds || dead.sameBoot) return expiresInMs;
  const periodMs = Math.max(dead.retryPeriodMs, rules.times.retryPeriodMs);
  const rebootInMs = REBOOT_QUIET_PERIODS * periodMs - quietMs;
  if (rebootInMs <= 0) return { how: 'reboot', followsOwn };
  return Math.min(rebootInMs, expiresInMs);
}

/** A take whose answer never came, or a Lease that we lost and nobody took. */
function ownIdentity(state: ElectionState, seen: SeenLease, followsOwn: boolean): Manner {
  const sent = state.take;
  if (sent?.leaseTransitions === seen.record.leaseTransitions) return sent;
  return { how: followsOwn ? 'regained' : 'expired', followsOwn };
}

/** True if the Lease shows the last term that we worked in, held or released by us. */
function isRemembered(seen: SeenLease, rules: Rules): boolean {
  const last = rules.remembered;
  const holder = seen.record.holderIdentity;
  if (last === undefined || !sameTerm(last, termOf(seen))) return false;
  return holder === '' || holder === last.identity;
}
