/** Gives back the pages of the program file that only the start needed. */
import { FFIType } from 'bun:ffi';
import { readFileSync, readlinkSync } from 'node:fs';
import { openCLibrary } from './c-library.ts';
import type { Clock } from './clock.ts';
import { PROGRAM_PAGES_FIRST_MS, PROGRAM_PAGES_INTERVAL_MS } from './limits.ts';

const MADV_DONTNEED = 4;
const KIB = 1024;
/** Where /proc/self/smaps begins to tell of the next mapping. */
const NEXT_MAPPING = /\n(?=[0-9a-f]+-[0-9a-f]+ )/;
const HEAD = /^([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \S+ +(\S.*)?/;

/** One stretch of memory that shows a file as it is on disk. */
export interface FileMapping {
  readonly start: bigint;
  readonly end: bigint;
  readonly residentBytes: number;
}

function sizeOf(block: string, field: string): number {
  return Number(new RegExp(`^${field}: +(\\d+) kB$`, 'm').exec(block)?.[1] ?? 0) * KIB;
}

/**
 * The mappings of a file, read from the text of /proc/PID/smaps, whose pages the kernel can read
 * again from it at any time: nobody may write there, and nobody has (the loader does at the start).
 */
export function untouchedMappings(smaps: string, file: string): FileMapping[] {
  return smaps.split(NEXT_MAPPING).flatMap((block) => {
    const [, start, end, rights, path] = HEAD.exec(block) ?? [];
    if (path !== file || rights === undefined || rights.includes('w')) return [];
    if (!/^Anonymous: +0 kB$/m.test(block)) return [];
    const residentBytes = sizeOf(block, 'Rss');
    return [{ start: BigInt(`0x${start}`), end: BigInt(`0x${end}`), residentBytes }];
  });
}

/**
 * Takes the program's own pages out of this process; those that are used again come back from the
 * page cache, 16 at a time. The kernel drops the others first when memory gets short. Gives how
 * many bytes were taken out, 0 where the machine doesn't tell or allow it.
 */
export function releaseProgramPages(): number {
  const libc = openCLibrary({
    madvise: { args: [FFIType.u64, FFIType.u64, FFIType.i32], returns: FFIType.i32 },
  });
  if (libc === undefined) return 0;
  try {
    const smaps = readFileSync('/proc/self/smaps', 'latin1');
    const mine = untouchedMappings(smaps, readlinkSync('/proc/self/exe'));
    const released = mine.filter(
      ({ start, end }) => libc.madvise(start, end - start, MADV_DONTNEED) === 0,
    );
    return released.reduce((sum, { residentBytes }) => sum + residentBytes, 0);
  } catch {
    return 0;
  }
}

/** Does so soon after the start and then from time to time, until the process ends. */
export function keepProgramPagesFew(clock: Clock): void {
  const again = (): void => {
    releaseProgramPages();
    clock.after(PROGRAM_PAGES_INTERVAL_MS, again, { background: true });
  };
  clock.after(PROGRAM_PAGES_FIRST_MS, again, { background: true });
}
