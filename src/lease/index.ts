/** Leader election: the door of this folder. */
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import { LeaseElector } from './elector.ts';
import { checkTimes } from './times.ts';
import type { ElectionOptions, Elector } from './types.ts';
import { UnelectedLeader } from './unelected.ts';

export { type Machine, readMachine } from './machine.ts';
export type { LeaseName } from './messages.ts';
export type { Lead, LeadHow } from './term.ts';
export { checkTimes, type ElectionTimes } from './times.ts';
export type { ElectionOptions, Elector, ElectorState, LeaseInfo } from './types.ts';

/**
 * Stands for election from now on, as upstream's KCM does for its Lease. Losing it means standing
 * by again, not the end. Throws RangeError for times with which no election can work.
 */
export function runElected(options: ElectionOptions): Elector {
  checkTimes(options.times);
  return new LeaseElector(options);
}

/** Leads without election (`--leader-elect=false`). */
export function runUnelected(options: {
  readonly clock: Clock;
  readonly hostName: string;
  readonly random: Random;
  readonly log: Logger;
}): Elector {
  return new UnelectedLeader(options);
}
