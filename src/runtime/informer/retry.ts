/** How long a reflector waits after a failed list or watch. */
import { ApiError } from '../../api/errors.ts';
import { REFLECTOR_BACKOFF_BASE_MS, REFLECTOR_BACKOFF_MAX_MS } from '../limits.ts';
import type { Random } from '../random.ts';

/** Doubles with each failure up to a bound, spread by up to as much again; at least Retry-After. */
export function retryDelayMs(error: unknown, failures: number, random: Random): number {
  const asked = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
  const grown = REFLECTOR_BACKOFF_BASE_MS * 2 ** Math.min(failures - 1, 10);
  const capped = Math.min(grown, REFLECTOR_BACKOFF_MAX_MS);
  return Math.max(asked, capped * (1 + random.next()));
}
