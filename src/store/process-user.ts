/** Who uses a state directory, without touching its lock: trying it could keep a process out. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { HOLDER_FILE, LOCK_FILE } from './process-lock.ts';

const LOCKS = '/proc/locks';

/**
 * The process that holds the lock of a state directory, as it named itself; "" if none that the
 * kernel shows here does (it does not show those of other containers).
 */
export function processUsing(dir: string): string {
  const inode = statSync(join(dir, LOCK_FILE), { throwIfNoEntry: false })?.ino;
  if (inode === undefined) return '';
  const held = locks().some((line) => line.includes(' WRITE ') && line.includes(`:${inode} `));
  if (!held) return '';
  try {
    return readFileSync(join(dir, HOLDER_FILE), 'utf8').trim() || 'a process that left no name';
  } catch {
    return 'a process that left no name';
  }
}

function locks(): string[] {
  try {
    return readFileSync(LOCKS, 'utf8').split('\n');
  } catch {
    return [];
  }
}
