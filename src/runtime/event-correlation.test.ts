import { beforeEach, describe, expect, test } from 'bun:test';
import {
  type Correlation,
  correlate,
  createCorrelation,
  type EventDraft,
  rememberCorrelation,
} from './event-correlation.ts';
import { EVENT_CACHE_ENTRIES_MAX, EVENT_REMEMBERED_MAX } from './limits.ts';

const MINUTE = 60_000;

let state: Correlation;
let now: number;
let serial: number;

beforeEach(() => {
  state = createCorrelation();
  now = 1_000_000;
  serial = 0;
});

function draft(fields: Partial<EventDraft> = {}): EventDraft {
  serial++;
  return {
    namespace: 'ns',
    name: `a.${serial}`,
    about: { kind: 'ReplicaSet', namespace: 'ns', name: 'a', uid: 'uid', apiVersion: 'apps/v1' },
    component: 'replicaset-controller',
    reported: true,
    type: 'Normal',
    reason: 'SuccessfulCreate',
    message: 'Created pod: p',
    firstAt: now,
    lastAt: now,
    count: 1,
    ...fields,
  };
}

function report(fields: Partial<EventDraft> = {}, draw = 0): EventDraft | undefined {
  return correlate(state, draft(fields), { wallMs: now, monotonicMs: now, draw });
}

describe('the same event', () => {
  test('is counted under the name and first time of its first occurrence', () => {
    expect(report()).toMatchObject({ name: 'a.1', count: 1, firstAt: 1_000_000 });
    now += 5_000;
    expect(report()).toMatchObject({
      name: 'a.1',
      count: 2,
      firstAt: 1_000_000,
      lastAt: 1_005_000,
      reported: true,
    });
    expect(report()).toMatchObject({ name: 'a.1', count: 3 });
  });

  const about = {
    kind: 'ReplicaSet',
    namespace: 'ns',
    name: 'a',
    uid: 'uid',
    apiVersion: 'apps/v1',
  };
  test.each<[string, Partial<EventDraft>]>([
    ['component', { component: 'other' }],
    ['type', { type: 'Warning' }],
    ['reason', { reason: 'FailedCreate' }],
    ['message', { message: 'Created pod: q' }],
    ['UID', { about: { ...about, uid: 'new' } }],
    ['field path', { about: { ...about, fieldPath: 'spec.containers{x}' } }],
    ['kind', { about: { ...about, kind: 'Deployment' } }],
  ])('is another one with another %s', (_, fields) => {
    report();
    expect(report(fields)).toMatchObject({ name: 'a.2', count: 1 });
  });
});

describe('similar events', () => {
  function reportMessages(from: number, to: number, draw = 0): (EventDraft | undefined)[] {
    const drafts: (EventDraft | undefined)[] = [];
    for (let i = from; i <= to; i++) drafts.push(report({ message: `m${i}` }, draw));
    return drafts;
  }

  test('stay apart up to nine messages; from the tenth on they are one, counted together', () => {
    for (const event of reportMessages(1, 9)) expect(event).toMatchObject({ count: 1 });
    now += 5_000;
    expect(reportMessages(10, 12)).toMatchObject([
      {
        name: 'a.10',
        message: '(combined from similar events): m10',
        count: 1,
        firstAt: 1_005_000,
        reported: false,
      },
      { name: 'a.10', message: '(combined from similar events): m11', count: 2 },
      { name: 'a.10', message: '(combined from similar events): m12', count: 3 },
    ]);
  });

  test('the nine messages that are kept go on alone; a drawn one makes room for a new one', () => {
    reportMessages(1, 9);
    // 0.35 draws the fourth of ten: m4 goes, m10 stays.
    reportMessages(10, 10, 0.35);
    expect(report({ message: 'm1' })).toMatchObject({ name: 'a.1', count: 2 });
    expect(report({ message: 'm10' })).toMatchObject({ message: 'm10', count: 1 });
    expect(report({ message: 'm4' })).toMatchObject({ count: 2, reported: false });
  });

  test('are forgotten after more than ten minutes without any', () => {
    reportMessages(1, 9);
    now += 10 * MINUTE;
    expect(report({ message: 'm10' })?.message).toStartWith('(combined');
    now += 10 * MINUTE + 1;
    expect(report({ message: 'm11' })).toMatchObject({ message: 'm11', count: 1 });
  });

  test('of another field path belong together, of another reason do not', () => {
    reportMessages(1, 9);
    const about = { ...draft().about, fieldPath: 'spec' };
    expect(report({ message: 'm10', about })?.message).toStartWith('(combined');
    expect(report({ message: 'm11', reason: 'Other' })?.message).toBe('m11');
  });
});

describe('a flood', () => {
  test('of one object and type ends after 25 events; later ones are dropped but counted', () => {
    for (let i = 1; i <= 25; i++) expect(report()).toMatchObject({ count: i });
    for (let i = 26; i <= 30; i++) expect(report()).toBeUndefined();
    expect(report({ reason: 'Other' })).toBeUndefined();
    expect(report({ type: 'Warning' })).toMatchObject({ count: 1 });
    now += 5 * MINUTE;
    expect(report()).toMatchObject({ count: 31 });
    expect(report()).toBeUndefined();
  });

  test('may come again in full after long silence, not more', () => {
    const written = () => Array.from({ length: 60 }, () => report()).filter(Boolean).length;
    expect(written()).toBe(25);
    now += 24 * 60 * MINUTE;
    expect(written()).toBe(25);
  });
});

describe('what is known', () => {
  test('is bounded', () => {
    for (let i = 0; i < EVENT_CACHE_ENTRIES_MAX + 10; i++) {
      report({ about: { kind: 'Pod', name: `p${i}`, uid: `${i}` } });
    }
    for (const lru of [state.seen, state.groups, state.buckets]) {
      expect(lru.size).toBe(EVENT_CACHE_ENTRIES_MAX);
    }
    const remembered = rememberCorrelation(state, now);
    expect(remembered.seen).toHaveLength(EVENT_REMEMBERED_MAX);
  });

  test('goes on in another process: counts, combined messages, floods', () => {
    for (let i = 1; i <= 9; i++) report({ message: `m${i}` });
    for (let i = 10; i <= 24; i++) report({ message: 'm1' });
    const text = JSON.stringify(rememberCorrelation(state, now));
    now = 50;
    state = createCorrelation(now, JSON.parse(text));
    expect(report({ message: 'm1' })).toMatchObject({ name: 'a.1', count: 17 });
    expect(report({ message: 'm1' })).toBeUndefined();
    now += 5 * MINUTE;
    expect(report({ message: 'm10' })?.message).toStartWith('(combined');
  });
});
