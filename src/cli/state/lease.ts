/** `holdfast state lease`: who led last on this state, and what the Lease may show of it. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { timeMs } from '../../api/time.ts';
import { durationText } from '../../runtime/age.ts';
import { RUNTIME_RECORD_BYTES_MAX } from '../../runtime/limits.ts';
import type { OptionRow } from '../ports.ts';
import { operandsUpTo } from '../words.ts';
import { listView, type Show } from './lists.ts';

/** Options of `state lease`. */
export const LEASE_OPTIONS: readonly OptionRow[] = [
  {
    name: 'state-runtime-dir',
    value: 'DIR',
    help: 'where the record of the Lease is (default /run/holdfast)',
  },
];

/** What the last term left in the state file and in the runtime directory, as far as it is there. */
interface LastTerm {
  readonly identity?: string;
  readonly leaseUid?: string;
  readonly leaseTransitions?: number;
  readonly retryPeriodMs?: number;
  readonly machine?: { readonly hostName?: string; readonly bootId?: string };
  readonly renewTimes?: readonly string[];
}

/** The last term of this state, and the record by which a restarted process leads at once. */
export const showLease: Show = (source, words) => {
  operandsUpTo(words, 0, 'state lease');
  const { inspector, now, usedBy, runtimeDir } = source;
  const facts = inspector.facts();
  const last = parsed(facts['lease.last-term']);
  const records = recordsIn(runtimeDir);
  const rows: [string, string | number][] = [];
  if (last !== undefined) {
    rows.push(['led last', last.identity ?? '']);
    rows.push(['on', last.machine?.hostName ?? '']);
    rows.push(['in term', last.leaseTransitions ?? '']);
    rows.push(['of the Lease with UID', last.leaseUid ?? '']);
  }
  const worked = facts['manager.term'];
  if (worked !== undefined) rows.push(['controllers last ran in term', worked]);
  rows.push(['used now by', usedBy || 'no process here']);
  for (const { file, record } of records) {
    const at = Math.max(0, ...(record.renewTimes ?? []).map((time) => timeMs(time)));
    const age = at === 0 ? '' : `, renewed ${durationText(now - at)} ago`;
    rows.push([file, `${record.identity ?? ''}, term ${record.leaseTransitions ?? ''}${age}`]);
  }
  const items = { lastTerm: last, controllersTerm: worked, records };
  const empty = 'Nobody has led on this state.';
  return listView(source, { head: ['WHAT', 'VALUE'], rows, empty }, items);
};

function parsed(text: string | undefined): LastTerm | undefined {
  try {
    const found: unknown = text === undefined ? undefined : JSON.parse(text);
    return typeof found === 'object' && found !== null ? found : undefined;
  } catch {
    return undefined;
  }
}

/** The records of Leases in a runtime directory; none where there is no such directory. */
function recordsIn(dir: string): { readonly file: string; readonly record: LastTerm }[] {
  try {
    return readdirSync(dir)
      .filter((name) => /^lease-.*\.json$/.test(name))
      .filter((name) => statSync(join(dir, name)).size <= RUNTIME_RECORD_BYTES_MAX)
      .flatMap((file) => {
        const record = parsed(readFileSync(join(dir, file), 'utf8'));
        return record === undefined ? [] : [{ file, record }];
      });
  } catch {
    return [];
  }
}
