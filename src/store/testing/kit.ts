/** What the store's tests share: directories, a logger that collects, rows, opening with a fake clock. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '../../runtime/log.ts';
import type { IntentRow, JournalRow, ObjectRow, StorePort, WorkRow } from '../../runtime/ports.ts';
import { seededRandom } from '../../runtime/random.ts';
import { type FakeClock, fakeClock } from '../../runtime/testing/fake-clock.ts';
import {
  inlineHelper,
  type OpenedStore,
  openStore,
  STATE_FILE,
  type StoreOptions,
} from '../index.ts';

/** Wall time at which the tests' clocks start, ms. */
export const START = Date.parse('2026-01-01T00:00:00Z');

/** Limit of tests that start processes or run many rounds, ms; a busy machine is slow. */
export const SLOW_TEST_MS = 120_000;

/** A new directory that `cleanUp` removes. */
export function temporaryDirectory(): string {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-store-'));
  made.push(dir);
  return dir;
}

const made: string[] = [];

/** Removes the directories made so far. */
export function cleanUp(): void {
  for (const dir of made.splice(0)) rmSync(dir, { recursive: true, force: true });
}

/** A logger that keeps its lines, each as "level message". */
export function collectingLogger(): Logger & { readonly lines: string[] } {
  const lines: string[] = [];
  const logger: Logger & { readonly lines: string[] } = {
    lines,
    info: (message) => void lines.push(`info ${message}`),
    warning: (message) => void lines.push(`warning ${message}`),
    error: (message, error) => void lines.push(`error ${message}: ${String(error)}`),
    v: () => ({ info: (message) => void lines.push(`v ${message}`) }),
    enabled: () => true,
    named: () => logger,
  };
  return logger;
}

/** An opened store whose clock the test moves. */
export interface TestStore extends OpenedStore {
  readonly clock: FakeClock;
  readonly lines: string[];
  /** Closes and waits until the file is free. */
  shut(): Promise<void>;
}

/** Opens a store in `dir` with a fake clock and, unless told otherwise, a helper without thread. */
export async function openTestStore(
  dir: string,
  options: Partial<StoreOptions> = {},
): Promise<TestStore> {
  const clock = fakeClock(START);
  const log = collectingLogger();
  const opened = await openStore({
    dir,
    clock,
    log,
    random: seededRandom(1),
    bootId: 'boot-1',
    startHelper: inlineHelper,
    ...options,
  });
  const shut = async (): Promise<void> => {
    opened.store.close();
    await opened.gone;
  };
  return { ...opened, clock, lines: log.lines, shut };
}

/** An object row whose JSON agrees with its columns. */
export function objectRow(
  resource: string,
  key: string,
  version = '1',
  extra: object = {},
): ObjectRow {
  const [namespace, name] = key.includes('/') ? key.split('/') : [undefined, key];
  const uid = `uid-${resource}-${key}`;
  const metadata = { namespace, name, uid, resourceVersion: version };
  return {
    resource,
    key,
    uid,
    resourceVersion: version,
    json: JSON.stringify({ metadata, ...extra }),
  };
}

/** A row of the work table. */
export function workRow(queue: string, key: string, changes: Partial<WorkRow> = {}): WorkRow {
  return {
    queue,
    key,
    failures: 0,
    dueAt: 0,
    dirty: true,
    lastError: '',
    because: 'it changed',
    term: 1,
    updatedAt: START,
    ...changes,
  };
}

/** A row of the intents table. */
export function intentRow(id: string, changes: Partial<IntentRow> = {}): IntentRow {
  return {
    id,
    controller: 'replicaset-controller',
    verb: 'create',
    ownerUid: 'uid-owner',
    slot: 'abc',
    resource: 'pods',
    namespace: 'default',
    name: `web-${id}`,
    uid: '',
    term: 1,
    sentAt: START,
    ...changes,
  };
}

/** A row of the journal. */
export function journalRow(key: string, changes: Partial<JournalRow> = {}): JournalRow {
  return {
    controller: 'replicaset-controller',
    key,
    startedAt: START,
    durationMs: 3,
    outcome: 'ok',
    error: '',
    because: 'it changed',
    writes: [],
    ...changes,
  };
}

/** Keys and versions of a resource as `heads` gives them. */
export function headsOf(store: StorePort, resource: string): string[] {
  return [...store.objects.heads(resource)].map((head) => `${head.key}@${head.resourceVersion}`);
}

/** Lets real threads and processes work until `condition` holds; the test's own timeout bounds it. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await Bun.sleep(2);
}

/** A process running `testing/child.ts`, whose lines can be waited for. */
export interface Child {
  readonly pid: number;
  readonly lines: string[];
  kill(): Promise<void>;
}

/** How to start a child: under another command, or compiled. */
export interface ChildOptions {
  readonly under?: readonly string[];
  readonly binary?: string;
}

/** Starts a child. */
export function startChild(what: string, dir: string, options: ChildOptions = {}): Child {
  const { under = [], binary } = options;
  const script = join(import.meta.dir, 'child.ts');
  const program = binary === undefined ? [process.execPath, script] : [binary];
  const child = Bun.spawn([...under, ...program, what, dir], {
    cwd: tmpdir(),
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const lines: string[] = [];
  const read = async (): Promise<void> => {
    let rest = '';
    const decoder = new TextDecoder();
    for await (const chunk of child.stdout) {
      const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = parts.pop() ?? '';
      lines.push(...parts);
    }
  };
  const reading = read();
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await child.exited;
    await reading;
  };
  return { pid: child.pid, lines, kill };
}

/** A small file system of its own, so that a test can fill it or make it read-only. */
export interface SmallDisk {
  readonly dir: string;
  fill(): void;
  free(): void;
  readOnly(on: boolean): void;
  unmount(): void;
}

function run(command: readonly string[]): boolean {
  return Bun.spawnSync([...command], { stdout: 'ignore', stderr: 'ignore' }).exitCode === 0;
}

/** Mounts a tmpfs of so many KiB; undefined where mounting isn't allowed. */
export function smallDisk(kib: number): SmallDisk | undefined {
  const dir = temporaryDirectory();
  if (!run(['mount', '-t', 'tmpfs', '-o', `size=${kib}k`, 'tmpfs', dir])) return undefined;
  const filler = join(dir, 'filler');
  return {
    dir,
    fill: () => void run(['dd', 'if=/dev/zero', `of=${filler}`, 'bs=1k']),
    free: () => rmSync(filler, { force: true }),
    readOnly: (on) => {
      if (!run(['mount', '-o', `remount,${on ? 'ro' : 'rw'}`, dir])) throw new Error('remount');
    },
    unmount: () => void run(['umount', '-l', dir]),
  };
}

/** Puts pods p00000, p00001, ... of about so many bytes. */
export function putPods(store: StorePort, from: number, to: number, padding = 500): void {
  for (let i = from; i < to; i++) {
    const key = `default/p${String(i).padStart(5, '0')}`;
    store.objects.put(objectRow('pods', key, String(i), { pad: 'x'.repeat(padding) }));
  }
}

/** Sets a resume point. */
export function setPoint(store: StorePort, resource: string, version: number): void {
  store.objects.setResumePoint({ resource, resourceVersion: String(version), observedAt: START });
}

/** A closed state file with many pods in it. */
export async function fileWithPods(dir: string): Promise<string> {
  const { store, shut } = await openTestStore(dir);
  putPods(store, 0, 2_000);
  setPoint(store, 'pods', 2_000);
  store.work.put(workRow('queue', 'default/p00001'));
  await shut();
  return join(dir, STATE_FILE);
}
