/**
 * What may be on the disk after the power was cut at some call: everything that was synced, and of
 * the rest whatever the disk pleases.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../../src/runtime/random.ts';
import type { Call } from './record.ts';

/** What becomes of the writes that were not synced. */
export const FATES = ['none', 'all', 'some', 'reordered', 'torn'] as const;
export type Fate = (typeof FATES)[number];

/** The least that a disk writes whole, bytes. */
const SECTOR_BYTES = 512;

/** A file that is being built; beyond `length` its bytes are spare room. */
interface Built {
  bytes: Uint8Array;
  length: number;
}

/** Files by name. */
export type Image = ReadonlyMap<string, Uint8Array>;

function withRoom(files: Map<string, Built>, name: string, length: number): Built {
  const file = files.get(name) ?? { bytes: new Uint8Array(0), length: 0 };
  files.set(name, file);
  if (file.bytes.length < length) {
    const bytes = new Uint8Array(2 * length);
    bytes.set(file.bytes.subarray(0, file.length));
    file.bytes = bytes;
  }
  return file;
}

function apply(files: Map<string, Built>, call: Call): void {
  if (call.kind === 'write') {
    const end = call.offset + call.bytes.length;
    const file = withRoom(files, call.file, end);
    file.bytes.set(call.bytes, call.offset);
    file.length = Math.max(file.length, end);
  } else if (call.kind === 'truncate') {
    const file = withRoom(files, call.file, call.size);
    file.bytes.fill(0, call.size);
    file.length = call.size;
  } else if (call.kind === 'unlink') files.delete(call.file);
}

/** A write in pieces that reach the disk, or don't, each for itself. */
function sectors(call: Call): Call[] {
  if (call.kind !== 'write') return [call];
  const { file, offset, bytes } = call;
  const parts: Call[] = [];
  for (let at = 0; at < bytes.length; ) {
    const next = Math.min(bytes.length, at + SECTOR_BYTES - ((offset + at) % SECTOR_BYTES));
    parts.push({ kind: 'write', file, offset: offset + at, bytes: bytes.slice(at, next) });
    at = next;
  }
  return parts;
}

function shuffled<T>(all: readonly T[], random: Random): T[] {
  const mixed = [...all];
  for (let at = mixed.length - 1; at > 0; at--) {
    const other = Math.floor(random.next() * (at + 1));
    [mixed[at], mixed[other]] = [mixed[other] as T, mixed[at] as T];
  }
  return mixed;
}

/** The calls before `cut` that no later sync of their file before `cut` has made last. */
export function unsynced(calls: readonly Call[], cut: number): Set<Call> {
  const open = new Set<Call>();
  for (const call of calls.slice(0, cut)) {
    if (call.kind !== 'sync') open.add(call);
    else for (const earlier of open) if (earlier.file === call.file) open.delete(earlier);
  }
  return open;
}

/** The files after a cut just before the call numbered `cut`. */
export function imageAt(calls: readonly Call[], cut: number, fate: Fate, random: Random): Image {
  const open = unsynced(calls, cut);
  const files = new Map<string, Built>();
  for (const call of calls.slice(0, cut)) if (!open.has(call)) apply(files, call);
  const pending = [...open];
  const keep = random.next();
  const kept = {
    none: () => [],
    all: () => pending,
    some: () => pending.filter(() => random.next() < keep),
    // A disk without order: of two writes to one place the older may be the last.
    reordered: () => shuffled(pending, random).filter(() => random.next() < 0.7),
    torn: () => pending.flatMap(sectors).filter(() => random.next() < 0.5 + keep / 2),
  }[fate]();
  for (const call of kept) apply(files, call);
  return new Map([...files].map(([name, { bytes, length }]) => [name, bytes.subarray(0, length)]));
}

/** Puts an image where a process will find it. */
export function place(image: Image, dir: string): void {
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  for (const [name, bytes] of image) writeFileSync(join(dir, name), bytes, { mode: 0o600 });
}
