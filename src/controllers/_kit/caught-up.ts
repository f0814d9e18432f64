/** What is judged only by caches that are as new as the server. */
import type { SyncRun } from '../../runtime/controller.ts';

const LOOK_MS = 200;

/** True while a cache may be behind the server; the key comes again a moment later then. */
export function waitsForCaches(run: Pick<SyncRun, 'again'>, caughtUp: () => boolean): boolean {
  if (caughtUp()) return false;
  run.again(LOOK_MS, 'the caches may lag behind the server');
  return true;
}
