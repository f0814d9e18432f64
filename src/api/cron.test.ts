import { describe, expect, test } from 'bun:test';
import { type CronSchedule, NEVER, parseCron } from './cron.ts';
import { readReference } from './testing/reference.ts';
import { openZones } from './zone.ts';

/** Text, then what is wrong with it; or text, an instant in seconds, and distances from there on. */
type Row = [string, string] | [string, number, (number | null)[]];

const reference = readReference<Row>('cron-v3.0.1.txt');
const zones = openZones(reference.from.local);
const berlin = openZones('Europe/Berlin');

function scheduleOf(text: string, within = zones): CronSchedule {
  const parsed = parseCron(text, within);
  if (parsed.problem !== undefined) throw new Error(parsed.problem);
  return parsed.schedule;
}

/** Distances in seconds from one time to the next, null where there is none. */
function distances(schedule: CronSchedule, from: number, count: number): (number | null)[] {
  const found: (number | null)[] = [];
  for (let at = from; found.length < count; ) {
    const next = schedule.next(at);
    if (next === NEVER) return [...found, null];
    found.push((next - at) / 1000);
    at = next;
  }
  return found;
}

function times(text: string, from: string, count: number): string[] {
  const schedule = scheduleOf(text, berlin);
  const found: string[] = [];
  for (let at = Date.parse(from); found.length < count; ) {
    at = schedule.next(at);
    found.push(new Date(at).toISOString());
  }
  return found;
}

describe(`as robfig/cron ${reference.from.cron} under ${reference.from.go}`, () => {
  const refused = reference.rows.filter((row) => row.length === 2);
  const read = reference.rows.filter((row) => row.length === 3);

  test('the fixture holds errors and times', () => {
    expect(refused.length).toBeGreaterThan(300);
    expect(read.length).toBeGreaterThan(2000);
  });

  test('refuses the same texts with the same words', () => {
    const found = refused.map(([text]) => [text, parseCron(text, zones).problem ?? 'accepted']);
    expect(found).toEqual(refused);
  });

  test('finds the same times', () => {
    const found = read.map(([text, from, wanted]) => {
      const schedule = scheduleOf(text);
      return [text, from, distances(schedule, from * 1000, wanted.length)];
    });
    expect<unknown>(found).toEqual(read);
  });
});

describe('when clocks change', () => {
  test('an hour that is skipped never runs', () => {
    expect(times('30 2 * * *', '2026-03-27T12:00:00Z', 3)).toEqual([
      '2026-03-28T01:30:00.000Z',
      '2026-03-30T00:30:00.000Z',
      '2026-03-31T00:30:00.000Z',
    ]);
  });

  test('an hour that is repeated runs twice', () => {
    expect(times('30 2 * * *', '2026-10-24T12:00:00Z', 3)).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-25T01:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ]);
  });
});

describe('the end of the search', () => {
  test('a day that no month has gives never', () => {
    expect(scheduleOf('59 23 31 2 *').next(Date.parse('2026-01-01T00:00:00Z'))).toBe(NEVER);
  });

  test('a leap day is found within five years, not beyond', () => {
    const leapDay = scheduleOf('TZ=UTC 0 0 29 2 *');
    expect(leapDay.next(Date.parse('2095-06-01T00:00:00Z'))).toBe(
      Date.parse('2096-02-29T00:00:00Z'),
    );
    expect(leapDay.next(Date.parse('2096-03-01T00:00:00Z'))).toBe(NEVER);
  });

  test('a field that stands for nothing never matches', () => {
    for (const text of [', * * * *', '* , * * *', '* * * , *', '* * , * *']) {
      expect(scheduleOf(text).next(0)).toBe(NEVER);
    }
  });
});

test('fractions of a second are cut off', () => {
  const at = Date.parse('2026-01-01T00:00:59.999Z');
  expect(scheduleOf('* * * * *').next(at)).toBe(Date.parse('2026-01-01T00:01:00Z'));
  expect(scheduleOf('@every 10s').next(at)).toBe(Date.parse('2026-01-01T00:01:09Z'));
});
