/** Syncs that end because this process must not write. */
import { FencedError } from '../../api/errors.ts';
import type { SyncRun } from '../../runtime/controller.ts';

/**
 * True if a sync that failed was cut off: the Lease is gone, this process ends, or its caches are
 * being compared with the server. Nobody's error, and nothing to count: the key comes again.
 */
export function wasCutOff({ signal }: Pick<SyncRun, 'signal'>, error: unknown): boolean {
  return signal.aborted || error instanceof FencedError;
}
