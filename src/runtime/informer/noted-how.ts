/** How each cache came to be, noted for who reads the state file. */
import type { FactTable } from '../ports.ts';
import type { SyncHow } from './reflector-types.ts';

/** Name of the fact: JSON, resource to how. */
export const FACT_HOW = 'informers.how';

/** Notes it; the same again is no change of the fact. */
export function noteHow(
  facts: Pick<FactTable, 'set'>,
  caches: Iterable<{ readonly id: string; readonly how: SyncHow }>,
): void {
  const how: Record<string, SyncHow> = {};
  for (const cache of caches) how[cache.id] = cache.how;
  facts.set(FACT_HOW, JSON.stringify(how));
}
