/** The state of a candidate and its steps: the words that `elect.ts` and `takeover.ts` share. */
import type {
  DeadProcess,
  ElectionRecord,
  Lead,
  LeadHow,
  OwnTerm,
  SeenLease,
  TermId,
} from './term.ts';
import type { ElectionTimes } from './times.ts';

/** A reading of both clocks, milliseconds. */
export interface Moment {
  /** CLOCK_BOOTTIME. */
  readonly mono: number;
  readonly wall: number;
}

/** The last term that was worked in here, and that the state on disk comes from. */
export type LastTerm = OwnTerm & Pick<Lead, 'since'>;

/** What stays the same during the life of a candidate. */
export interface Rules {
  readonly identity: string;
  readonly times: ElectionTimes;
  /** Ours and dead for certain; absent without a process lock. */
  readonly dead?: DeadProcess;
  readonly remembered?: LastTerm;
}

/** A take that was sent; its outcome may be unknown. */
export interface Take {
  readonly how: LeadHow;
  readonly followsOwn: boolean;
  readonly leaseTransitions: number;
}

export interface ElectionState {
  readonly phase: 'standby' | 'leading';
  /** The Lease as last read or written by us. */
  readonly seen?: SeenLease;
  /** `mono` when `seen` last changed. */
  readonly observedAt: number;
  /** While leading: `mono` from which others may lead. */
  readonly heldUntil: number;
  /** While leading: `mono` of the first try of the renewal under way. */
  readonly renewalStartedAt?: number;
  readonly take?: Take;
  /** The term this process holds or held last. */
  readonly own?: TermId;
  /** Takes repeated at once after a conflict with the last request of a dead process. */
  readonly hurried: number;
}

export type Step =
  | { readonly do: 'read' }
  | { readonly do: 'create'; readonly record: ElectionRecord }
  | { readonly do: 'update'; readonly record: ElectionRecord; readonly slowPath: boolean }
  | { readonly do: 'lead'; readonly lead: Lead; readonly seen: SeenLease }
  | { readonly do: 'wait'; readonly ms: number; readonly because: string }
  | { readonly do: 'lost'; readonly because: string };

/** The state after an input and what to do next. */
export interface Turn {
  readonly state: ElectionState;
  readonly step: Step;
}
