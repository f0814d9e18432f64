/** The key of the digests that stand for the data of Secrets. */
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import { describeError } from './connection.ts';

const KEY_FILE = 'digest.key';
const KEY_HEX = /^[0-9a-f]{64}$/;

/**
 * 32 bytes, kept in the runtime directory (tmpfs) and never on the disk that holds the digests: a
 * stolen disk must not allow guessing a weak password at leisure. They last until the next boot;
 * after it every digest differs, which only looks like a change. Without a usable directory they
 * last as long as the process.
 */
export function digestKey(runtimeDir: string | undefined, random: Random, log: Logger): Uint8Array {
  const fresh = createHash('sha256').update(`${random.uuid()}${random.uuid()}`).digest();
  if (runtimeDir === undefined) return fresh;
  const path = join(runtimeDir, KEY_FILE);
  try {
    const known = readKey(path);
    if (known !== undefined) return known;
    mkdirSync(runtimeDir, { recursive: true, mode: 0o700 });
    writeFileSync(`${path}.new`, fresh.toString('hex'), { mode: 0o600 });
    chmodSync(`${path}.new`, 0o600);
    renameSync(`${path}.new`, path);
  } catch (error) {
    log.warning('The digest key does not outlive this process', { error: describeError(error) });
  }
  return fresh;
}

function readKey(path: string): Uint8Array | undefined {
  try {
    const text = readFileSync(path, 'utf8');
    return KEY_HEX.test(text) ? Buffer.from(text, 'hex') : undefined;
  } catch {
    return undefined;
  }
}
