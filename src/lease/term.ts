/** What candidates, the Lease and the main thread say to each other about terms: plain data. */

/** The election part of a Lease's spec; times as the API server writes them (microseconds, UTC). */
export interface ElectionRecord {
  /** "" when the holder has released the Lease. */
  readonly holderIdentity: string;
  readonly leaseDurationSeconds: number;
  readonly acquireTime: string;
  readonly renewTime: string;
  /** 0 on creation, one more with each change of holder. */
  readonly leaseTransitions: number;
}

/** A Lease as it was read or as the server stored what was written. */
export interface SeenLease {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly record: ElectionRecord;
}

/** One term of one Lease: no two holders ever share it. */
export interface TermId {
  readonly leaseUid: string;
  readonly leaseTransitions: number;
}

/** A term together with the identity that held it. */
export interface OwnTerm extends TermId {
  readonly identity: string;
}

/**
 * How the Lease was won.
 * - `instant`: from our own dead process on this boot, or one that had released it; nobody led since.
 *   (Only with `followsOwn` had that process begun to work in its term, on this very state.)
 * - `reboot`: from our own process of an earlier boot, after two retry periods without a change.
 * - `expired`: the holder was silent for the duration in its record.
 * - `created`: there was no Lease.
 * - `released-by-other`: the Lease had no holder.
 * - `regained`: this process had lost it, and nobody took it meanwhile.
 * - `unelected`: there is no election.
 */
export type LeadHow =
  | 'instant'
  | 'reboot'
  | 'expired'
  | 'created'
  | 'released-by-other'
  | 'regained'
  | 'unelected';

/** A term that begins. */
export interface Lead {
  /** leaseTransitions of the Lease, 0 without election. */
  readonly term: number;
  /** First term of the unbroken line of terms of this state that ends with `term`. */
  readonly since: number;
  readonly leaseUid: string;
  readonly how: LeadHow;
  /** True if this state is of the term just before: nobody else can have led in between. */
  readonly followsOwn: boolean;
}

/** A process of ours that is surely dead and may be succeeded without waiting. */
export interface DeadProcess extends OwnTerm {
  /** Only a process that died on this boot is succeeded at once. */
  readonly sameBoot: boolean;
  /** Renew times it may have written last, a release included; empty after a reboot. */
  readonly renewTimes: readonly string[];
  readonly retryPeriodMs: number;
}

/** True if both name the same term of the same Lease. */
export function sameTerm(a: TermId, b: TermId): boolean {
  return a.leaseUid === b.leaseUid && a.leaseTransitions === b.leaseTransitions;
}

/** The term that a Lease shows. */
export function termOf(seen: SeenLease): TermId {
  return { leaseUid: seen.uid, leaseTransitions: seen.record.leaseTransitions };
}

/** True if both records say the same in every field. */
export function sameRecord(a: ElectionRecord, b: ElectionRecord): boolean {
  return (
    a.holderIdentity === b.holderIdentity &&
    a.leaseDurationSeconds === b.leaseDurationSeconds &&
    a.acquireTime === b.acquireTime &&
    a.renewTime === b.renewTime &&
    a.leaseTransitions === b.leaseTransitions
  );
}
