/** Calls in growing batches, so that a quota or an admission error costs one call, not hundreds. */

/** What came of a slow start. */
export interface SlowStartResult {
  readonly successes: number;
  /** Calls made, failed ones included; the rest was never tried. */
  readonly tried: number;
  /** The first error in time; undefined if every call succeeded. */
  readonly error: unknown;
}

/**
 * Calls `fn` with 0, 1, ... `count` - 1 in batches of `initial`, then twice as many each time, up
 * to `batchMax`. The calls of a batch run at once; the first batch with any error is the last one.
 * Never rejects.
 */
export async function slowStart(
  count: number,
  initial: number,
  fn: (index: number) => Promise<void>,
  batchMax = Number.POSITIVE_INFINITY,
): Promise<SlowStartResult> {
  let successes = 0;
  let tried = 0;
  const errors: unknown[] = [];
  const call = async (index: number): Promise<void> => {
    try {
      await fn(index);
      successes++;
    } catch (error) {
      errors.push(error);
    }
  };
  let size = Math.min(count, initial);
  while (size > 0 && errors.length === 0) {
    const first = tried;
    tried += size;
    await Promise.all(Array.from({ length: size }, (_, i) => call(first + i)));
    size = Math.min(2 * size, batchMax, count - tried);
  }
  return { successes, tried, error: errors[0] };
}
