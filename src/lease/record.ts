/**
 * What a holder leaves behind for the next process on this machine: the runtime record, a small
 * file on a tmpfs. It survives a kill but neither a reboot nor the copy of a disk.
 */
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RUNTIME_RECORD_BYTES_MAX } from '../runtime/limits.ts';
import type { Machine } from './machine.ts';
import type { DeadProcess, OwnTerm } from './term.ts';

/** A term together with who held it, and on which machine. */
export interface TermRecord extends OwnTerm {
  readonly retryPeriodMs: number;
  readonly machine: Machine;
  /** Names the lock file that the holder held, "" if none. */
  readonly lockId: string;
}

/** The last term of this process or an earlier one, as the state on disk keeps it. */
export interface RememberedTerm extends TermRecord {
  /** First term of the unbroken line of our own terms that ends with this one. */
  readonly since: number;
}

/** Written before each write of the Lease by a process that holds the process lock. */
export interface RuntimeRecord extends TermRecord {
  /** Renew times the Lease may show: the ones about to be sent or unanswered, and the last known. */
  readonly renewTimes: readonly string[];
}

/** Where runtime records are kept. */
export interface RuntimeRecords {
  /** undefined if there is none or it makes no sense. */
  read(): RuntimeRecord | undefined;
  /** Replaces the record; throws the error of the file system. */
  write(record: RuntimeRecord): void;
}

/** The runtime record of one Lease as a file in `directory`, made (0700) when first written. */
export function recordFile(
  directory: string,
  lease: { readonly namespace: string; readonly name: string },
): RuntimeRecords {
  const path = join(directory, `lease-${lease.namespace}-${lease.name}.json`);
  return {
    read() {
      try {
        if (statSync(path).size > RUNTIME_RECORD_BYTES_MAX) return undefined;
        return parseRuntimeRecord(readFileSync(path, 'utf8'));
      } catch {
        return undefined;
      }
    },
    write(record) {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      const next = `${path}.next`;
      writeFileSync(next, JSON.stringify(record), { mode: 0o600 });
      renameSync(next, path);
    },
  };
}

/** Parses a runtime record; undefined for anything else. */
export function parseRuntimeRecord(text: string): RuntimeRecord | undefined {
  const found = parseObject(text);
  const term = found && parseTerm(found);
  const times = found?.renewTimes;
  if (term === undefined || !Array.isArray(times)) return undefined;
  if (!times.every((time) => typeof time === 'string')) return undefined;
  return { ...term, renewTimes: times };
}

/** Parses a remembered term; undefined for anything else. Without `since` its line begins with it. */
export function parseRememberedTerm(text: string): RememberedTerm | undefined {
  const found = parseObject(text);
  const term = found && parseTerm(found);
  if (found === undefined || term === undefined) return undefined;
  const { since } = found;
  const isKnown = isCount(since) && since <= term.leaseTransitions;
  return { ...term, since: isKnown ? since : term.leaseTransitions };
}

/** Who is reading: this machine, and the process lock that is held. */
export interface Reader {
  readonly machine: Machine;
  readonly lockId: string | undefined;
}

/**
 * The process of ours that is dead for certain, as far as `record` (of this boot) or `remembered`
 * (of an earlier boot) knows one. Without a process lock nothing is certain; a record that was
 * written under another lock or on another machine is worth nothing.
 */
export function deadProcess(
  record: RuntimeRecord | undefined,
  remembered: RememberedTerm | undefined,
  reader: Reader,
): DeadProcess | undefined {
  if (reader.lockId === undefined) return undefined;
  if (record !== undefined && onThisBoot(record, reader)) return { ...record, sameBoot: true };
  const last = remembered ?? record;
  if (last === undefined || !onThisMachine(last.machine, reader.machine)) return undefined;
  const then = last.machine.bootId;
  const now = reader.machine.bootId;
  if (then === '' || now === '' || then === now) return undefined;
  return { ...last, renewTimes: [], sameBoot: false };
}

/** True if the state that remembers this term was written here: it may be a copy otherwise. */
export function isOurs(remembered: RememberedTerm, reader: Reader): boolean {
  return onThisBoot(remembered, reader) || onThisMachine(remembered.machine, reader.machine);
}

/** A container may come back under another host name: on the same boot the lock file is enough. */
function onThisBoot(term: TermRecord, { machine, lockId }: Reader): boolean {
  const { bootId, machineId } = term.machine;
  const here = bootId !== '' && bootId === machine.bootId && machineId === machine.machineId;
  return here && term.lockId === lockId;
}

function onThisMachine(then: Machine, now: Machine): boolean {
  const known = now.machineId !== '';
  return known && then.machineId === now.machineId && then.hostName === now.hostName;
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const found: unknown = JSON.parse(text);
    return isObject(found) ? found : undefined;
  } catch {
    return undefined;
  }
}

function parseTerm(found: Record<string, unknown>): TermRecord | undefined {
  const { identity, leaseUid, leaseTransitions, retryPeriodMs, machine, lockId } = found;
  if (typeof identity !== 'string' || identity === '' || typeof leaseUid !== 'string') {
    return undefined;
  }
  if (!isCount(leaseTransitions) || !isCount(retryPeriodMs) || !isObject(machine)) {
    return undefined;
  }
  const { bootId, machineId, hostName } = machine;
  if (typeof bootId !== 'string' || typeof machineId !== 'string') return undefined;
  if (typeof hostName !== 'string' || typeof lockId !== 'string') return undefined;
  return {
    identity,
    leaseUid,
    leaseTransitions,
    retryPeriodMs,
    machine: { bootId, machineId, hostName },
    lockId,
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
