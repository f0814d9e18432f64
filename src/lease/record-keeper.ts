/** Keeps the runtime record ahead of every write of the Lease. */
import { RENEW_TIMES_MAX } from '../runtime/limits.ts';
import type { CandidateSetup } from './messages.ts';
import type { RuntimeRecords } from './record.ts';
import { type ElectionRecord, type SeenLease, type TermId, termOf } from './term.ts';

/** What the Lease may show of ours, and the file that says so. */
export class RecordKeeper {
  readonly #setup: Pick<CandidateSetup, 'rules' | 'machine' | 'lockId'>;
  readonly #records: RuntimeRecords;
  #term: TermId = { leaseUid: '', leaseTransitions: -1 };
  #renewTimes: readonly string[] = [];
  #broken = false;

  constructor(
    setup: Pick<CandidateSetup, 'rules' | 'machine' | 'lockId'>,
    records: RuntimeRecords,
  ) {
    this.#setup = setup;
    this.#records = records;
  }

  /**
   * Writes down what is about to be sent, beside what the Lease may still show. Gives the problem
   * when the first of a row of failures happens: without a record the next process waits longer,
   * nothing else. Does nothing without a process lock.
   */
  beforeWrite(sending: ElectionRecord, leaseUid: string): string | undefined {
    const { leaseTransitions, renewTime } = sending;
    const before = leaseTransitions === this.#term.leaseTransitions ? this.#renewTimes : [];
    this.#term = { leaseUid, leaseTransitions };
    this.#renewTimes = [...before, renewTime].slice(-RENEW_TIMES_MAX);
    return this.#save();
  }

  /** A write of ours succeeded: earlier ones can't take effect any more. */
  written(seen: SeenLease): string | undefined {
    const created = seen.uid !== this.#term.leaseUid;
    this.#term = termOf(seen);
    this.#renewTimes = [seen.record.renewTime];
    return created ? this.#save() : undefined;
  }

  /** The Lease was read and shows a record of ours; unanswered writes may still take effect. */
  shown(seen: SeenLease): void {
    const { leaseTransitions, renewTime } = seen.record;
    if (leaseTransitions !== this.#term.leaseTransitions) return;
    const others = this.#renewTimes.filter((time) => time !== renewTime);
    this.#renewTimes = [...others, renewTime];
  }

  #save(): string | undefined {
    const { rules, machine, lockId } = this.#setup;
    if (lockId === undefined) return undefined;
    try {
      this.#records.write({
        ...this.#term,
        identity: rules.identity,
        renewTimes: this.#renewTimes,
        retryPeriodMs: rules.times.retryPeriodMs,
        machine,
        lockId,
      });
      this.#broken = false;
      return undefined;
    } catch (error) {
      const first = !this.#broken;
      this.#broken = true;
      return first ? String(error) : undefined;
    }
  }
}
