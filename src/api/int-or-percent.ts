/** Numbers that may be written as a percentage: maxSurge, maxUnavailable, minAvailable. */

/** As on the wire: 3, or "25%". */
export type IntOrPercent = number | string;

const PERCENT = /^[+-]?\d+%$/;

/**
 * The number that `value` means out of `total`; a percentage is rounded up or down to a whole one.
 * Undefined if it is text that is no percentage (upstream's GetScaledValueFromIntOrPercent fails).
 */
export function scaledValue(
  value: IntOrPercent,
  total: number,
  round: 'up' | 'down',
): number | undefined {
  if (typeof value === 'number') return value;
  if (!PERCENT.test(value)) return undefined;
  const exact = (Number.parseInt(value, 10) * total) / 100;
  return round === 'up' ? Math.ceil(exact) : Math.floor(exact);
}
