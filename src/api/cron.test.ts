import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
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

describe('the latest time', () => {
  const oneByOne = (schedule: CronSchedule, after: number, until: number): number | undefined => {
    let latest: number | undefined;
    for (let next = schedule.next(after); next !== NEVER && next <= until; ) {
      latest = next;
      next = schedule.next(next);
    }
    return latest;
  };
  const DAY_MS = 86_400_000;
  const from = Date.parse('2005-01-01T00:00:00Z');
  // Clocks that change at midnight, on the first of a month, or by half an hour.
  const names = [
    'UTC',
    'Europe/Berlin',
    'America/Havana',
    'America/Asuncion',
    'America/Sao_Paulo',
    'Asia/Beirut',
    'Australia/Lord_Howe',
    'Africa/Casablanca',
    'Pacific/Apia',
  ];
  const times = fc.record({
    zone: fc.constantFrom(...names),
    minute: fc.constantFrom('*', '0', '*/7', '1,59', '30'),
    hour: fc.constantFrom('*', '0', '2', '*/5', '22-23', '0-3'),
    day: fc.constantFrom('*', '1', '31', '*/9', '1-7'),
    month: fc.constantFrom('*', '1-6', '3,10', '10', '*/2', '9-11'),
    weekday: fc.constantFrom('*', '*', '0', '1-5'),
    after: fc.integer({ min: 0, max: 365 * 30 * 86_400 }),
    days: fc.constantFrom(0.1, 1, 3, 20, 400),
  });

  test('is the one that going through all of them comes to', () => {
    fc.assert(
      fc.property(times, ({ zone, minute, hour, day, month, weekday, ...span }) => {
        const fields = `${minute} ${hour} ${day} ${month} ${weekday}`;
        const schedule = scheduleOf(`TZ=${zone} ${fields}`, berlin);
        const after = from + span.after * 1_000;
        // Going through them takes its time if they come each minute.
        const days = minute === '0' || minute === '30' ? span.days : Math.min(3, span.days);
        const until = after + days * DAY_MS;
        expect(schedule.latest(after, until)).toBe(oneByOne(schedule, after, until));
      }),
      { seed: 1, numRuns: 1_000 },
    );
  });

  test('where a change of the clocks hides a time from those that come before it', () => {
    const schedule = scheduleOf('TZ=Australia/Lord_Howe 0 0 */2 * 6,0', berlin);
    const after = Date.parse('2015-09-08T21:09:01Z');
    const until = Date.parse('2015-10-05T01:25:09Z');
    expect(schedule.latest(after, until)).toBe(Date.parse('2015-10-03T13:30:00Z'));
    expect(oneByOne(schedule, after, until)).toBe(Date.parse('2015-10-03T13:30:00Z'));
  });

  test.each(['1s', '90m', '24h', '2500ms'])('of @every %s', (every) => {
    const schedule = scheduleOf(`@every ${every}`);
    for (const span of [
      0, 999, 1_000, 1_999, 3_000, 5_400_000, 5_400_999, 10_800_000, 86_400_000,
    ]) {
      const until = from + span;
      expect(schedule.latest(from + 500, until)).toBe(oneByOne(schedule, from + 500, until));
    }
  });

  test('is found without going through all of them', () => {
    let looks = 0;
    const offsetMs = (at: number): number => {
      looks++;
      return berlin.local.offsetMs(at);
    };
    const schedule = scheduleOf('* * * 1-6 *', { ...berlin, local: { offsetMs } });
    const latest = schedule.latest(from, Date.parse('2006-12-31T00:00:00Z'));
    expect(latest).toBe(Date.parse('2006-06-30T21:59:00Z'));
    expect(looks).toBeLessThan(100_000);
  });

  test('is none where no time is', () => {
    const never = scheduleOf('59 23 31 2 *');
    expect(never.latest(from, from + 400 * DAY_MS)).toBeUndefined();
  });
});

test('fractions of a second are cut off', () => {
  const at = Date.parse('2026-01-01T00:00:59.999Z');
  expect(scheduleOf('* * * * *').next(at)).toBe(Date.parse('2026-01-01T00:01:00Z'));
  expect(scheduleOf('@every 10s').next(at)).toBe(Date.parse('2026-01-01T00:01:09Z'));
});
