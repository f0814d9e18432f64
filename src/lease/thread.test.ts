import { afterAll, afterEach, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClientConfig } from '../kube/index.ts';
import { systemClock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import { Cells } from './cells.ts';
import type { FromCandidate } from './messages.ts';
import { type CandidateThread, workerThreads, workerUrl } from './thread.ts';
import { postedLogger, writePosted } from './worker-log.ts';

setDefaultTimeout(30_000);

const directory = mkdtempSync(join(tmpdir(), 'holdfast-thread-'));
afterAll(() => rmSync(directory, { recursive: true }));
let thread: CandidateThread | undefined;
afterEach(() => {
  thread?.stop();
  thread = undefined;
});

/** Starts a worker against `config`; resolves with what it says or dies of, one by one. */
function start(config: Partial<ClientConfig>): { next(): Promise<FromCandidate | string> } {
  const heard: (FromCandidate | string)[] = [];
  const waiting: ((said: FromCandidate | string) => void)[] = [];
  const hear = (said: FromCandidate | string) => {
    const first = waiting.shift();
    if (first === undefined) heard.push(said);
    else first(said);
  };
  const cells = new Cells();
  cells.beat(systemClock().monotonic());
  const whole = { server: '', namespace: '', source: '', insecureSkipTlsVerify: false, ...config };
  thread = workerThreads({ config: whole, version: 'test', verbosity: 0 })(
    {
      lease: { namespace: 'kube-system', name: 'lease' },
      rules: {
        identity: 'me',
        times: { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 },
      },
      machine: { bootId: 'boot', machineId: '', hostName: 'box' },
      lockId: undefined,
      runtimeDirectory: directory,
      cells: cells.buffer,
      round: 0,
    },
    { message: hear, died: hear },
  );
  return {
    next: () => {
      const said = heard.shift();
      if (said !== undefined) return Promise.resolve(said);
      return new Promise((resolve) => waiting.push(resolve));
    },
  };
}

test('a worker stands for election by itself and answers to a release', async () => {
  // Nothing listens there: each try fails.
  const worker = start({ server: 'http://127.0.0.1:1' });
  expect(await worker.next()).toMatchObject({
    kind: 'log',
    message: 'Attempting to acquire leader lease...',
    fields: { lock: 'kube-system/lease' },
  });
  const failed = (await worker.next()) as Extract<FromCandidate, { kind: 'log' }>;
  expect(failed).toMatchObject({ level: 'error', message: 'Error retrieving lease lock' });
  expect(failed.fields.err).toContain('refused');
  thread?.post({ kind: 'release' });
  for (;;) {
    const said = await worker.next();
    if (typeof said === 'string') throw new Error(said);
    if (said.kind === 'released') break;
  }
});

test('a worker that cannot begin dies and says why', async () => {
  const file = join(directory, 'no-such-ca.crt');
  const worker = start({ server: 'https://127.0.0.1:1', ca: { file } });
  const said = await worker.next();
  expect(said).toBeString();
  expect(said as string).toContain('no-such-ca.crt');
});

test('the file of the worker lies beside this module, or where the compiler puts it', () => {
  expect(workerUrl('file:///src/lease/thread.ts').href).toBe('file:///src/lease/worker.ts');
  const compiled = workerUrl('file:///$bunfs/root/holdfast').href;
  expect(compiled).toBe('file:///$bunfs/root/lease/worker.ts');
});

test('lines of the worker arrive as they were meant, up to the verbosity', () => {
  const posted: FromCandidate[] = [];
  const log = postedLogger((message) => posted.push(structuredClone(message)), 2);
  expect([log.enabled(2), log.enabled(3)]).toEqual([true, false]);
  log.named('client', { host: 'a' }).info('one', { count: 2, why: new Error('because') });
  log.warning('two');
  log.error('three', new Error('bad'), { list: [1, 2] });
  log.v(2).info('four');
  log.v(3).info('five');
  const lines: string[] = [];
  const keep = (level: string) => (message: string, fields?: object) => {
    lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  };
  const writer = {
    info: keep('I'),
    warning: keep('W'),
    error: (message: string, error: unknown, fields: object) =>
      lines.push(`E ${message} ${error} ${JSON.stringify(fields)}`),
    v: (level: number) => ({ info: keep(`V${level}`) }),
  } as unknown as Logger;
  for (const message of posted) if (message.kind === 'log') writePosted(writer, message);
  expect(lines).toEqual([
    'I one {"host":"a","count":2,"why":"because"}',
    'W two {}',
    'E three bad {"list":"1,2"}',
    'V2 four {}',
  ]);
});
