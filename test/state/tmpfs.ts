/** A small file system of its own for a state directory, that tests fill up and make read-only. */
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Mounting needs root; without it the tests of full disks can't run. */
export const CAN_MOUNT = process.getuid?.() === 0 && mounts();

const FILLER = 'filler';

function mounts(): boolean {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-mount-'));
  try {
    if (!run('mount', '-t', 'tmpfs', '-o', 'size=64k', 'holdfast-test', dir)) return false;
    return run('umount', dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function run(...command: string[]): boolean {
  return Bun.spawnSync(command, { stdout: 'ignore', stderr: 'ignore' }).success;
}

/** One mounted tmpfs. */
export class SmallDisk {
  readonly dir: string;

  constructor(bytes: number) {
    this.dir = mkdtempSync(join(tmpdir(), 'holdfast-disk-'));
    if (!run('mount', '-t', 'tmpfs', '-o', `size=${bytes}`, 'holdfast-test', this.dir)) {
      throw new Error(`could not mount a tmpfs at ${this.dir}`);
    }
  }

  /** Bytes that can still be written. */
  get free(): number {
    const { bavail, bsize } = statfsSync(this.dir);
    return bavail * bsize;
  }

  /** Takes all the space there is. */
  fill(): void {
    let block = this.free;
    for (let part = 0; this.free > 0; part++) {
      try {
        writeFileSync(join(this.dir, `${FILLER}-${part}`), new Uint8Array(block));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        block = Math.max(1, Math.floor(block / 2));
      }
    }
  }

  /** Gives the space back. */
  empty(): void {
    for (const file of new Bun.Glob(`${FILLER}-*`).scanSync(this.dir)) {
      rmSync(join(this.dir, file));
    }
  }

  /** Nothing can be written any more; what is open for writing must be closed before. */
  readOnly(): void {
    if (!run('mount', '-o', 'remount,ro', this.dir))
      throw new Error(`could not remount ${this.dir}`);
  }

  writable(): void {
    if (!run('mount', '-o', 'remount,rw', this.dir))
      throw new Error(`could not remount ${this.dir}`);
  }

  remove(): void {
    run('umount', '-l', this.dir);
    rmSync(this.dir, { recursive: true, force: true });
  }
}
