/** Does something grow? A straight line through its samples tells. */

/**
 * By what share of their mean the samples grow from the first to the last moment, along the line of
 * least squares; 0 for fewer than three samples or a mean of 0.
 */
export function growth(samples: readonly (readonly [at: number, value: number])[]): number {
  const count = samples.length;
  if (count < 3) return 0;
  const meanAt = samples.reduce((sum, [at]) => sum + at, 0) / count;
  const mean = samples.reduce((sum, [, value]) => sum + value, 0) / count;
  const spread = samples.reduce((sum, [at]) => sum + (at - meanAt) ** 2, 0);
  if (mean === 0 || spread === 0) return 0;
  const together = samples.reduce((sum, [at, value]) => sum + (at - meanAt) * (value - mean), 0);
  const first = samples[0]?.[0] ?? 0;
  const last = samples.at(-1)?.[0] ?? 0;
  return ((together / spread) * (last - first)) / mean;
}
