/**
 * Throwing a part of the memory away: of a file that nobody uses by deleting its rows, of a running
 * process by asking it. Only the process may write its file, so the question is a small file beside
 * it, which only those can make who could delete the state as well.
 */
import {
  existsSync,
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DATABASE_BUSY_WAIT_MS, FORGET_FILE_BYTES_MAX } from '../runtime/limits.ts';
import { closeConnection, inTransaction, openConnection } from './connection.ts';
import { STATE_FILE } from './state-dir.ts';

const REQUEST = 'forget.request';
const ANSWER = 'forget.answer';
const MODE = 0o600;

/** What a process is asked to forget. */
export interface ForgetRequest {
  /** Tells the answer from one to somebody else. */
  readonly id: string;
  /** Id of a resource; "": everything. */
  readonly resource: string;
}

/** What came of it. */
export interface ForgetAnswer {
  readonly id: string;
  /** Resources whose rows were thrown away. */
  readonly resources: readonly string[];
  /** False if the server has not listed all of them anew yet; that goes on. */
  readonly listed: boolean;
  /** Why nothing was forgotten, "" if it was. */
  readonly problem: string;
}

/** Leaves a request; false if another one is waiting. Throws what the file system throws. */
export function leaveForgetRequest(dir: string, request: ForgetRequest): boolean {
  const next = join(dir, `${REQUEST}.${request.id}`);
  writeFileSync(next, JSON.stringify(request), { mode: MODE, flag: 'wx' });
  try {
    // A link, unlike a rename, takes no place that is taken.
    linkSync(next, join(dir, REQUEST));
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(next, { force: true });
  }
}

/** Takes the request back that nobody has taken up. */
export function withdrawForgetRequest(dir: string, id: string): void {
  if (parsed<ForgetRequest>(join(dir, REQUEST))?.id === id) {
    rmSync(join(dir, REQUEST), { force: true });
  }
}

/** The request that waits, if any; it is gone afterwards, also if it makes no sense. */
export function takeForgetRequest(dir: string): ForgetRequest | undefined {
  const path = join(dir, REQUEST);
  if (!existsSync(path)) return undefined;
  const request = parsed<ForgetRequest>(path);
  rmSync(path, { force: true });
  if (typeof request?.id !== 'string' || typeof request.resource !== 'string') return undefined;
  return request;
}

/** Leaves the answer in the place of an earlier one. Throws what the file system throws. */
export function leaveForgetAnswer(dir: string, answer: ForgetAnswer): void {
  const path = join(dir, ANSWER);
  writeFileSync(`${path}.next`, JSON.stringify(answer), { mode: MODE });
  renameSync(`${path}.next`, path);
}

/** The answer to a request, if it is there; it is gone afterwards. */
export function takeForgetAnswer(dir: string, id: string): ForgetAnswer | undefined {
  const path = join(dir, ANSWER);
  const answer = parsed<ForgetAnswer>(path);
  if (answer?.id !== id) return undefined;
  rmSync(path, { force: true });
  return answer;
}

function parsed<T>(path: string): T | undefined {
  try {
    if (statSync(path).size > FORGET_FILE_BYTES_MAX) return undefined;
    return JSON.parse(readFileSync(path, 'utf8')) as T;
  } catch {
    return undefined;
  }
}

/**
 * Deletes what a file holds of a resource, so that the next process lists it; gives how many
 * objects there were. Hold the process lock. Throws SQLite's errors.
 */
export function forgetStored(dir: string, resource: string): number {
  const client = openConnection(join(dir, STATE_FILE), DATABASE_BUSY_WAIT_MS);
  try {
    return inTransaction(client, () => {
      client.run('DELETE FROM resume_points WHERE resource = ?', [resource]);
      return client.run('DELETE FROM objects WHERE resource = ?', [resource]).changes;
    });
  } finally {
    closeConnection(client);
  }
}
