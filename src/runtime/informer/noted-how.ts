/** How each cache came to be, noted for who reads the state file. */
import type { FactTable } from '../ports.ts';
import type { SyncHow } from './reflector-types.ts';

/** Name of the fact: JSON, resource to how. */
export const FACT_HOW = 'informers.how';

/** Notes it where it differs from what is noted. */
export function noteHow(
  facts: Pick<FactTable, 'get' | 'set'>,
  caches: Iterable<{ readonly id: string; readonly how: SyncHow }>,
): void {
  const how: Record<string, SyncHow> = {};
  for (const cache of caches) how[cache.id] = cache.how;
  const text = JSON.stringify(how);
  if (facts.get(FACT_HOW) !== text) facts.set(FACT_HOW, text);
}
