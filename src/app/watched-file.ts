/** Until when this process has watched, in a small file beside the one of the Lease, on a tmpfs. */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { WatchedMark } from '../runtime/watched-time.ts';
import type { RunConfig } from './config.ts';

/** The mark of the processes that work on this state folder. It says nothing on another boot. */
export function watchedFile(
  { state, election }: Pick<RunConfig, 'state' | 'election'>,
  bootId: string,
): WatchedMark {
  const { namespace, name } = election.lease;
  const path = join(state.runtimeDir, `watched-${namespace}-${name}.json`);
  const owner = { bootId, stateDir: resolve(state.dir) };
  return {
    read() {
      try {
        const found = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
        const isOurs =
          bootId !== '' && found.bootId === bootId && found.stateDir === owner.stateDir;
        return isOurs && typeof found.until === 'number' ? found.until : undefined;
      } catch {
        return undefined;
      }
    },
    write(until) {
      try {
        if (until === undefined) return rmSync(path, { force: true });
        writeFileSync(`${path}.next`, JSON.stringify({ ...owner, until }), { mode: 0o600 });
        renameSync(`${path}.next`, path);
      } catch {
        // Countdowns then go on from when they were last looked at.
      }
    },
  };
}
