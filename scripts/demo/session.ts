/** What `make run` leaves in .run/ for `make run-kill`: who runs there. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY } from '../../test/rig/index.ts';

/** The folder of `make run`. */
export const RUN_FOLDER = join(REPOSITORY, '.run');

const FILE = join(RUN_FOLDER, 'session.json');

/** Process numbers of a running `make run`. */
export interface Session {
  /** Of scripts/run.ts. */
  readonly owner: number;
  /** Of the manager. */
  readonly manager: number;
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The session that runs now, if any. */
export function runningSession(): Session | undefined {
  if (!existsSync(FILE)) return undefined;
  const session = JSON.parse(readFileSync(FILE, 'utf8')) as Session;
  return alive(session.owner) ? session : undefined;
}

export function writeSession(session: Session): void {
  writeFileSync(FILE, `${JSON.stringify(session)}\n`);
}

export function endSession(): void {
  rmSync(FILE, { force: true });
}
