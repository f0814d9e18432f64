/** How far from its target a metric may be before anything is done. Pure. */
import { quantityMilli, quantityNanos } from '../../api/quantity.ts';
import type { Tolerances } from './proposal.ts';
import type { Behavior } from './rules.ts';

const MILLIS = 1e-3;
const NANOS = 1e-9;
const NANOS_PER_MILLI = 1_000_000n;

/** The tolerances of a `behavior`, each the flag's where it isn't given. */
export function tolerancesOf(behavior: Behavior | undefined, flag: number): Tolerances {
  const { scaleDown, scaleUp } = behavior ?? {};
  return { down: fraction(scaleDown?.tolerance) ?? flag, up: fraction(scaleUp?.tolerance) ?? flag };
}

/** As a float, made in the way upstream makes it so that its rounding is the same. */
function fraction(text: string | undefined | null): number | undefined {
  const nanos = text === undefined || text === null ? undefined : quantityNanos(text);
  if (text === undefined || text === null || nanos === undefined) return undefined;
  const isInMillis = nanos % NANOS_PER_MILLI === 0n;
  return isInMillis ? Number(quantityMilli(text) ?? 0n) * MILLIS : Number(nanos) * NANOS;
}
