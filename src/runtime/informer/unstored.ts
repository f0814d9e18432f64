/** Rows of resources that never reach the disk: their caches are listed anew by each process. */
import type { ObjectRows } from '../ports.ts';

/** They change all the time, and what they said before a restart is of no use after it. */
const NEVER_STORED: ReadonlySet<string> = new Set(['leases.coordination.k8s.io']);

/** True for a resource whose objects the store refuses. */
export function isNeverStored(resource: string): boolean {
  return NEVER_STORED.has(resource);
}

/** Takes every row and keeps none; there is never a point to resume at. */
export const UNSTORED: ObjectRows = Object.freeze({
  put: () => undefined,
  delete: () => undefined,
  get: () => undefined,
  scan: () => [],
  heads: () => [],
  resumePoint: () => undefined,
  setResumePoint: () => undefined,
  drop: () => undefined,
  torn: () => false,
});
