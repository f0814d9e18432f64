import { beforeEach, describe, expect, test } from 'bun:test';
import { ApiError, FencedError, TransportError } from '../api/errors.ts';
import type { Resource } from '../api/resource.ts';
import type { Status } from '../api/types/index.ts';
import { createEventRecorder, type EventPipeline, type EventRecorderOptions } from './events.ts';
import { EVENT_QUEUE_MAX, EVENT_RETRY_MS, EVENT_TRIES_MAX } from './limits.ts';
import { createLogger } from './log.ts';
import { seededRandom } from './random.ts';
import { type FakeClock, fakeClock } from './testing/fake-clock.ts';

const START = Date.parse('2026-11-30T06:11:38.900Z');
const ABOUT = { apiVersion: 'apps/v1', kind: 'ReplicaSet', namespace: 'ns', name: 'a', uid: 'uid' };

interface Call {
  readonly verb: string;
  readonly at: { namespace?: string; name?: string };
  readonly body: Record<string, unknown>;
}

/** The name in the metadata of the body of a call. */
function nameIn(call: Call | undefined): string {
  return (call?.body.metadata as { name: string } | undefined)?.name ?? '';
}

let clock: FakeClock;
let lines: string[];
let calls: Call[];
/** What the server does with each call; nothing: it takes it. */
let answer: (call: Call) => void | Promise<void>;
let stop: AbortController;

function open(options: Partial<EventRecorderOptions> = {}): EventPipeline {
  const call = async (verb: string, at: Call['at'], body: object): Promise<never> => {
    const made = { verb, at, body: { ...body } };
    calls.push(made);
    await answer(made);
    return undefined as never;
  };
  return createEventRecorder({
    component: 'replicaset-controller',
    client: {
      create: (_: Resource, at, body) => call('create', at, body),
      patch: (_: Resource, at, kind, body) => call(`patch ${kind}`, at, body),
    },
    clock,
    random: seededRandom(1),
    log: createLogger({
      format: 'text',
      verbosity: 2,
      write: (line) => lines.push(line.replace(/^(.).*?\] /, '$1 ')),
      clock,
      pid: 1,
    }),
    signal: stop.signal,
    ...options,
  });
}

function refuse(code: number, reason: string, cause?: string): ApiError {
  const details = cause === undefined ? {} : { details: { causes: [{ reason: cause }] } };
  return new ApiError(code, reason, { reason, ...details } as Status);
}

beforeEach(() => {
  clock = fakeClock(START);
  lines = [];
  calls = [];
  answer = () => undefined;
  stop = new AbortController();
});

describe('an event', () => {
  test('is created with everything upstream writes', async () => {
    const events = open();
    events.event(ABOUT, 'Normal', 'SuccessfulCreate', 'Created pod: p');
    await events.settled();
    const name = nameIn(calls[0]);
    expect(calls).toEqual([
      {
        verb: 'create',
        at: { namespace: 'ns' },
        body: {
          apiVersion: 'v1',
          kind: 'Event',
          metadata: { name, namespace: 'ns' },
          involvedObject: ABOUT,
          reason: 'SuccessfulCreate',
          message: 'Created pod: p',
          source: { component: 'replicaset-controller' },
          firstTimestamp: '2026-11-30T06:11:38Z',
          lastTimestamp: '2026-11-30T06:11:38Z',
          count: 1,
          type: 'Normal',
          reportingComponent: 'replicaset-controller',
          reportingInstance: '',
        },
      },
    ]);
    const [object, nanoseconds] = name.split('.');
    expect(object).toBe('a');
    expect(Math.floor(Number.parseInt(nanoseconds ?? '', 16) / 1e6)).toBe(START);
    expect(lines).toEqual([]);
  });

  test('of an object without namespace goes to default', async () => {
    const events = open();
    const node = { kind: 'Node', name: 'n1', uid: 'n1' };
    events.event(node, 'Normal', 'NodeReady', 'x');
    await events.settled();
    expect(calls[0]).toMatchObject({
      at: { namespace: 'default' },
      body: { involvedObject: node },
    });
  });

  test.each(['system:node', 'A', 'x'.repeat(250)])(
    'of an object whose name is no part of a name has a UUID: %p',
    async (name) => {
      const events = open();
      events.event({ ...ABOUT, name }, 'Normal', 'X', 'x');
      await events.settled();
      expect(nameIn(calls[0])).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
    },
  );

  test('repeated is a patch of count, time and message', async () => {
    const events = open();
    events.event(ABOUT, 'Normal', 'X', 'x');
    await events.settled();
    await clock.advance(2_000);
    events.event(ABOUT, 'Normal', 'X', 'x');
    await events.settled();
    expect(calls[1]).toEqual({
      verb: 'patch strategic',
      at: { namespace: 'ns', name: nameIn(calls[0]) },
      body: { count: 2, lastTimestamp: '2026-11-30T06:11:40Z', message: 'x' },
    });
  });

  test('that has expired at the server is created again under its name, with its count', async () => {
    const events = open();
    events.event(ABOUT, 'Normal', 'X', 'x');
    await events.settled();
    answer = ({ verb }) => {
      if (verb.startsWith('patch')) throw refuse(404, 'NotFound');
    };
    events.event(ABOUT, 'Normal', 'X', 'x');
    await events.settled();
    expect(calls.map(({ verb }) => verb)).toEqual(['create', 'patch strategic', 'create']);
    expect(calls[2]?.body).toMatchObject({ count: 2, metadata: { name: nameIn(calls[0]) } });
  });

  test('combined from others lacks the reporting component, as upstream', async () => {
    const events = open();
    for (let i = 1; i <= 10; i++) events.event(ABOUT, 'Normal', 'X', `m${i}`);
    await events.settled();
    expect(calls.at(-1)?.body).toMatchObject({
      message: '(combined from similar events): m10',
      reportingComponent: '',
      source: { component: 'replicaset-controller' },
    });
  });

  test('is also logged from -v 3', async () => {
    const chatty = { format: 'text' as const, verbosity: 3, clock, pid: 1 };
    const log = createLogger({ ...chatty, write: (line) => lines.push(line) });
    const events = open({ log });
    events.event(ABOUT, 'Normal', 'X', 'y');
    expect(lines[0]).toEndWith(
      '"Event occurred" object="ns/a" fieldPath="" kind="ReplicaSet" apiVersion="apps/v1" ' +
        'type="Normal" reason="X" message="y"',
    );
  });
});

describe('when the server refuses', () => {
  test.each([
    ['another error', refuse(403, 'Forbidden'), 1],
    ['a taken name', refuse(409, 'AlreadyExists'), 0],
    ['a terminating namespace', refuse(403, 'Forbidden', 'NamespaceTerminating'), 0],
    ['a lost lead', new FencedError(), 0],
    ['a defect of ours', new TypeError('x'), 1],
  ])('%s drops the event at once', async (_, error, logged) => {
    answer = () => {
      throw error;
    };
    const events = open();
    events.event(ABOUT, 'Normal', 'X', 'x');
    await events.settled();
    expect(calls).toHaveLength(1);
    expect(events.pending()).toBe(0);
    expect(lines).toHaveLength(logged);
    for (const line of lines) expect(line).toStartWith('E "Server rejected event');
  });
});

describe('without an answer', () => {
  beforeEach(() => {
    answer = () => {
      throw new TransportError('connection refused');
    };
  });

  test('an event is tried twelve times, ten seconds apart, the first wait being shorter', async () => {
    const events = open();
    events.event(ABOUT, 'Normal', 'X', 'x');
    await clock.settle();
    expect(calls).toHaveLength(1);
    await clock.advance(EVENT_RETRY_MS - 1);
    expect(calls).toHaveLength(2);
    await clock.advance(EVENT_RETRY_MS * 5);
    expect(calls).toHaveLength(7);
    await clock.advance(EVENT_RETRY_MS * 20);
    await events.settled();
    expect(calls).toHaveLength(EVENT_TRIES_MAX);
    expect(lines.at(-1)).toStartWith('E "Unable to write event (retry limit exceeded!)"');
  });

  test('the events behind it wait, in order, up to a thousand; more are dropped', async () => {
    const events = open();
    const about = (i: number) => ({ ...ABOUT, name: `p${i}`, uid: `${i}` });
    events.event(about(0), 'Normal', 'X', 'x');
    await clock.settle();
    for (let i = 1; i <= EVENT_QUEUE_MAX + 5; i++) events.event(about(i), 'Normal', 'X', 'x');
    expect(events.pending()).toBe(EVENT_QUEUE_MAX + 1);
    answer = () => undefined;
    calls = [];
    await clock.advance(EVENT_RETRY_MS);
    await events.settled();
    const names = calls.map(({ body }) => (body.involvedObject as { name: string }).name);
    expect(names).toEqual(Array.from({ length: EVENT_QUEUE_MAX + 1 }, (_, i) => `p${i}`));
    expect(lines.slice(1)).toEqual([
      expect.stringContaining('too many queued events, dropped event" object="ns/p1001"'),
      'W "More events were dropped" count=4',
    ]);
  });

  test('the end of the process ends the waiting', async () => {
    const events = open();
    events.event(ABOUT, 'Normal', 'X', 'x');
    events.event({ ...ABOUT, name: 'b' }, 'Normal', 'X', 'x');
    await clock.settle();
    stop.abort();
    await events.settled();
    events.event(ABOUT, 'Normal', 'X', 'late');
    await clock.settle();
    expect(calls).toHaveLength(1);
    expect(events.pending()).toBe(0);
    expect(clock.timers()).toBe(0);
    expect(lines.slice(1)).toEqual([
      expect.stringMatching(/^E "Unable to write event \(broadcaster is shut down\)"/),
      'W "Events were lost because sending has ended" count=1',
    ]);
  });
});

test('what one process counted the next one goes on with', async () => {
  const first = open();
  first.event(ABOUT, 'Normal', 'X', 'x');
  await first.settled();
  const next = open({ remembered: first.remember() });
  next.event(ABOUT, 'Normal', 'X', 'x');
  await next.settled();
  expect(calls[1]).toMatchObject({ verb: 'patch strategic', body: { count: 2 } });
});
