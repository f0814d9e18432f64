/** The directories the store lives in, and what kind of file system they are on. */
import { chmodSync, mkdirSync, readdirSync, statfsSync, statSync } from 'node:fs';
import type { Logger } from '../runtime/log.ts';

/** Name of the state file in its directory. */
export const STATE_FILE = 'state.db';

/** What belongs to us in a state directory. */
const OURS = /^(state\.db|lock\.(db|holder)|forget\.(request|answer))/;
const OTHERS_BITS = 0o077;

/** File systems of several machines, by their magic number: locks and shared memory don't work. */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'nfs'],
  [0xff534d42, 'cifs'],
  [0xfe534d42, 'smb2'],
  [0x517b, 'smb'],
  [0x01021997, '9p'],
  [0x5346414f, 'afs'],
  [0x00c36400, 'ceph'],
]);

/** Name of the network file system a directory is on, or undefined if it is a local one. */
export function networkFileSystem(dir: string): string | undefined {
  return NETWORK_FILE_SYSTEMS.get(Number(statfsSync(dir).type) >>> 0);
}

/**
 * Makes a directory only its owner may enter. One that is there is tightened if nothing but our
 * files is in it, otherwise left alone with a warning. Throws what the file system throws.
 */
export function makePrivateDirectory(dir: string, log: Logger): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const mode = statSync(dir).mode & 0o777;
  if ((mode & OTHERS_BITS) === 0) return;
  if (readdirSync(dir).every((name) => OURS.test(name))) chmodSync(dir, 0o700);
  else log.warning('The state directory is open to other users', { dir, mode: mode.toString(8) });
}
