/** The last term that this state was worked in, kept beside the rest of the state on disk. */
import type { FactTable } from '../runtime/ports.ts';
import {
  deadProcess,
  isOurs,
  parseRememberedTerm,
  type Reader,
  type RememberedTerm,
  type RuntimeRecords,
} from './record.ts';
import type { Rules } from './state.ts';
import type { SeenLease } from './term.ts';

const FACT = 'lease.last-term';

/** What a candidate goes by at the start of a process: what earlier ones left is read here, once. */
export function inheritedRules(
  own: Pick<Rules, 'identity' | 'times'>,
  facts: Pick<FactTable, 'get'>,
  records: RuntimeRecords,
  reader: Reader,
): Rules {
  const last = parseRememberedTerm(facts.get(FACT) ?? '');
  const dead = deadProcess(records.read(), last, reader);
  const remembered = last !== undefined && isOurs(last, reader) ? last : undefined;
  return { ...own, remembered, dead };
}

/**
 * Remembers the term that `seen` shows as ours, and since which term nobody else has led; gives the
 * rules for a candidate started later.
 */
export function rememberTerm(
  rules: Rules,
  seen: SeenLease,
  since: number,
  facts: Pick<FactTable, 'set'>,
  { machine, lockId }: Reader,
): Rules {
  const { identity, times } = rules;
  const remembered: RememberedTerm = {
    identity,
    leaseUid: seen.uid,
    leaseTransitions: seen.record.leaseTransitions,
    since,
    retryPeriodMs: times.retryPeriodMs,
    machine,
    lockId: lockId ?? '',
  };
  facts.set(FACT, JSON.stringify(remembered));
  return { identity, times, remembered };
}
