/** How long a failed pod stays before it is replaced: a kubelet may refuse it for ever. */
import type { DaemonSet } from '../../api/types/index.ts';

const BASE_MS = 1_000;
const CAP_MS = 15 * 60_000;
/** Without a failure for this long, the next one starts from the beginning. */
export const FORGOTTEN_AFTER_MS = 2 * CAP_MS;

/** The last time a failed pod of a node was deleted. */
export interface FailedPod {
  /** How long the next one has to wait since then. */
  readonly backoffMs: number;
  /** Watched time since then. */
  readonly elapsedMs: number;
}

/** By set, generation and node: what a new template does is another question. */
export function backoffKey({ metadata, status }: DaemonSet, node: string): string {
  return `${metadata.uid}/${status?.observedGeneration ?? 0}/${node}`;
}

/** Milliseconds that a failed pod still has to stay; 0 if it may be deleted now. */
export function remainingMs(failed: FailedPod | undefined): number {
  if (failed === undefined || failed.elapsedMs > FORGOTTEN_AFTER_MS) return 0;
  return Math.max(0, failed.backoffMs - failed.elapsedMs);
}

/** The wait after a failed pod is deleted now: 1 s, then twice as long each time up to 15 min. */
export function nextBackoffMs(failed: FailedPod | undefined): number {
  if (failed === undefined || failed.elapsedMs > FORGOTTEN_AFTER_MS) return BASE_MS;
  return Math.min(failed.backoffMs * 2, CAP_MS);
}
