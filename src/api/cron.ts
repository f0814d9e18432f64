/**
 * Cron schedules in the dialect that CronJobs speak: robfig/cron v3, "standard" parser, to the
 * letter. Times are milliseconds since the epoch.
 */
import {
  CronFieldError,
  DAYS_OF_MONTH,
  DAYS_OF_WEEK,
  every,
  type FieldSet,
  HOURS,
  MINUTES,
  MONTHS,
  only,
  parseField,
} from './cron-fields.ts';
import { parseGoDuration } from './go-duration.ts';
import { civilTime, instantOf, type Zone, type Zones } from './zone.ts';

/** Go's zero time, year 1: what a schedule gives that finds no time within five years. */
export const NEVER = -62_135_596_800_000;

/** When to run. */
export interface CronSchedule {
  /** The first time after this one, on a whole second; NEVER if five years hold none. */
  next(after: number): number;
  /**
   * The last time, up to `until`, that asking for one after the other from `after` on comes to;
   * undefined if the first is later, or there is none.
   */
  latest(after: number, until: number): number | undefined;
}

/** A schedule, or what is wrong with its text, in the words of robfig/cron. */
export type ParsedCron =
  | { readonly schedule: CronSchedule; readonly problem?: undefined }
  | { readonly problem: string };

interface Fields {
  readonly minute: FieldSet;
  readonly hour: FieldSet;
  readonly day: FieldSet;
  readonly month: FieldSet;
  readonly weekday: FieldSet;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How far the search for the latest time looks ahead at once. */
const STRETCH_MS = 32 * DAY_MS;
const SECOND_NS = 1_000_000_000n;
const NANOSECONDS_PER_MS = 1_000_000n;
const YEARS_MAX = 5;
const FIELDS = 5;
const EVERY = '@every ';
/** What Go's unicode.IsSpace takes for a blank. */
const BLANKS = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/;

const FIRST: Fields = {
  minute: only(0),
  hour: only(0),
  day: every(DAYS_OF_MONTH),
  month: every(MONTHS),
  weekday: every(DAYS_OF_WEEK),
};
const YEARLY: Fields = { ...FIRST, day: only(1), month: only(1) };
const DESCRIPTORS: ReadonlyMap<string, Fields> = new Map([
  ['@yearly', YEARLY],
  ['@annually', YEARLY],
  ['@monthly', { ...FIRST, day: only(1) }],
  ['@weekly', { ...FIRST, weekday: only(0) }],
  ['@daily', FIRST],
  ['@midnight', FIRST],
  ['@hourly', { ...FIRST, hour: every(HOURS) }],
]);

/**
 * Reads a schedule: five fields, or a descriptor such as "@daily" or "@every 90m", with
 * "TZ=Name " or "CRON_TZ=Name " before it for a zone other than the process's.
 */
export function parseCron(text: string, zones: Zones): ParsedCron {
  if (text === '') return { problem: 'empty spec string' };
  let zone = zones.local;
  let rest = text;
  if (text.startsWith('TZ=') || text.startsWith('CRON_TZ=')) {
    const blank = text.indexOf(' ');
    // Go panics here, and upstream tells what the panic said.
    if (blank < 0) {
      const panic = 'runtime error: slice bounds out of range [:-1]';
      return { problem: `invalid schedule format: ${panic}` };
    }
    const name = text.slice(text.indexOf('=') + 1, blank);
    const found = zones.find(name);
    if (found.problem !== undefined) {
      return { problem: `provided bad location ${name}: ${found.problem}` };
    }
    zone = found.zone;
    rest = trimmed(text.slice(blank));
  }
  return rest.startsWith('@') ? parseDescriptor(rest, zone) : parseFields(rest, zone);
}

function words(text: string): string[] {
  return text.split(BLANKS).filter((word) => word !== '');
}

function trimmed(text: string): string {
  const blank = BLANKS.source;
  return text.replace(new RegExp(`^${blank}|${blank}$`, 'g'), '');
}

function parseFields(text: string, zone: Zone): ParsedCron {
  const fields = words(text);
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fields;
  if (fields.length !== FIELDS) {
    const found = `found ${fields.length}: [${fields.join(' ')}]`;
    return { problem: `expected exactly ${FIELDS} fields, ${found}` };
  }
  try {
    const read: Fields = {
      minute: parseField(minute, MINUTES),
      hour: parseField(hour, HOURS),
      day: parseField(day, DAYS_OF_MONTH),
      month: parseField(month, MONTHS),
      weekday: parseField(weekday, DAYS_OF_WEEK),
    };
    return { schedule: new FieldSchedule(read, zone) };
  } catch (error) {
    if (error instanceof CronFieldError) return { problem: error.message };
    throw error;
  }
}

function parseDescriptor(text: string, zone: Zone): ParsedCron {
  const fields = DESCRIPTORS.get(text);
  if (fields !== undefined) return { schedule: new FieldSchedule(fields, zone) };
  if (!text.startsWith(EVERY)) return { problem: `unrecognized descriptor: ${text}` };
  const parsed = parseGoDuration(text.slice(EVERY.length));
  if (parsed.problem !== undefined) {
    return { problem: `failed to parse duration ${text}: ${parsed.problem}` };
  }
  return { schedule: everyDuration(parsed.nanoseconds) };
}

/** At a constant distance: at least a second, fractions of seconds cut off. */
function everyDuration(nanoseconds: bigint): CronSchedule {
  const size = nanoseconds < SECOND_NS ? SECOND_NS : nanoseconds;
  const delayMs = Number((size - (size % SECOND_NS)) / NANOSECONDS_PER_MS);
  return {
    next: (after) => floorTo(after, SECOND_MS) + delayMs,
    latest(after, until) {
      const from = floorTo(after, SECOND_MS);
      return until < from + delayMs ? undefined : from + floorTo(until - from, delayMs);
    },
  };
}

function floorTo(at: number, unitMs: number): number {
  return Math.floor(at / unitMs) * unitMs;
}

class FieldSchedule implements CronSchedule {
  readonly #fields: Fields;
  readonly #zone: Zone;

  constructor(fields: Fields, zone: Zone) {
    this.#fields = fields;
    this.#zone = zone;
  }

  next(after: number): number {
    const { minute, hour, month } = this.#fields;
    // Fields may stand for nothing; looking through five years of minutes would find that out too.
    if ([minute, hour, month].some(({ values }) => values.size === 0)) return NEVER;
    return new Search(this.#fields, this.#zone, floorTo(after, SECOND_MS) + SECOND_MS).run();
  }

  latest(after: number, until: number): number | undefined {
    let latest: number | undefined;
    for (let next = this.next(after); isReached(next, until); next = this.next(latest)) {
      // What clocks that change do to times depends on the one before: these are gone through.
      latest = this.#lastBefore(next, steadyUntil(this.#zone, next, until));
    }
    return latest;
  }

  /** The last time up to `until`, a time being given and no clock changing in between. */
  #lastBefore(given: number, until: number): number {
    if (!isReached(this.next(given), until)) return given;
    let found = given;
    let beyond = given + Math.floor((until - given) / MINUTE_MS) * MINUTE_MS + MINUTE_MS;
    while (beyond - found > MINUTE_MS) {
      const middle = found + floorTo((beyond - found) / 2, MINUTE_MS);
      const next = this.next(middle - 1);
      if (isReached(next, until)) found = next;
      else beyond = middle;
    }
    return found;
  }
}

function isReached(time: number, until: number): boolean {
  return time !== NEVER && time <= until;
}

/** An instant up to which the clocks of a zone don't change, at most a stretch away. */
function steadyUntil(zone: Zone, from: number, until: number): number {
  const limit = Math.min(until, from + STRETCH_MS);
  const offset = zone.offsetMs(from);
  let at = from;
  for (const stepMs of [DAY_MS, HOUR_MS]) {
    for (
      let next = Math.min(at + stepMs, limit);
      at < limit && zone.offsetMs(next) === offset;
      next = Math.min(at + stepMs, limit)
    ) {
      at = next;
    }
  }
  return at;
}

/**
 * Looks for the next time field by field, from the month down. A field that wraps around starts
 * the search again from the month, because the bigger fields have changed. The steps, and what
 * becomes of hours that clocks skip or repeat, are those of robfig/cron.
 */
class Search {
  readonly #fields: Fields;
  readonly #zone: Zone;
  #at: number;
  /** Some field was moved: those below it are at their start. */
  #moved = false;

  constructor(fields: Fields, zone: Zone, from: number) {
    this.#fields = fields;
    this.#zone = zone;
    this.#at = from;
  }

  run(): number {
    const yearLast = this.#now().year + YEARS_MAX;
    while (this.#now().year <= yearLast) {
      const done =
        this.#toMonth() && this.#toDay() && this.#toHour() && this.#toMinute() && this.#toSecond();
      if (done) return this.#at;
    }
    return NEVER;
  }

  #now() {
    return civilTime(this.#zone, this.#at);
  }

  #set(year: number, month: number, day: number, hour: number, minute = 0, second = 0): void {
    this.#at = instantOf(this.#zone, { year, month, day, hour, minute, second });
  }

  /** False if the year went round. */
  #toMonth(): boolean {
    let { year, month, day, hour, minute, second } = this.#now();
    while (!this.#fields.month.values.has(month)) {
      if (!this.#moved) {
        this.#moved = true;
        this.#set(year, month, 1, 0);
        ({ year, month, day, hour, minute, second } = this.#now());
      }
      this.#set(year, month + 1, day, hour, minute, second);
      ({ year, month, day, hour, minute, second } = this.#now());
      if (month === 1) return false;
    }
    return true;
  }

  /** False if the month went round. */
  #toDay(): boolean {
    while (!this.#dayMatches()) {
      let { year, month, day, hour, minute, second } = this.#now();
      if (!this.#moved) {
        this.#moved = true;
        this.#set(year, month, day, 0);
        ({ year, month, day, hour, minute, second } = this.#now());
      }
      this.#set(year, month, day + 1, hour, minute, second);
      // Where clocks skip midnight a day may begin at 1, or the step ends at 23 of the day before.
      const landed = this.#now().hour;
      if (landed > 12) this.#at += (24 - landed) * HOUR_MS;
      else if (landed !== 0) this.#at -= landed * HOUR_MS;
      if (this.#now().day === 1) return false;
    }
    return true;
  }

  #dayMatches(): boolean {
    const { day, weekday } = this.#fields;
    const now = this.#now();
    const onDay = day.values.has(now.day);
    const onWeekday = weekday.values.has(now.weekday);
    return day.star || weekday.star ? onDay && onWeekday : onDay || onWeekday;
  }

  /** False if the day went round. */
  #toHour(): boolean {
    let now = this.#now();
    while (!this.#fields.hour.values.has(now.hour)) {
      if (!this.#moved) {
        this.#moved = true;
        this.#set(now.year, now.month, now.day, now.hour);
      }
      this.#at += HOUR_MS;
      now = this.#now();
      if (now.hour === 0) return false;
    }
    return true;
  }

  /** False if the hour went round. */
  #toMinute(): boolean {
    let { minute } = this.#now();
    while (!this.#fields.minute.values.has(minute)) {
      if (!this.#moved) {
        this.#moved = true;
        this.#at = floorTo(this.#at, MINUTE_MS);
      }
      this.#at += MINUTE_MS;
      ({ minute } = this.#now());
      if (minute === 0) return false;
    }
    return true;
  }

  /** False if the minute went round. Standard schedules are for second 0. */
  #toSecond(): boolean {
    while (this.#now().second !== 0) {
      this.#moved = true;
      this.#at += SECOND_MS;
      if (this.#now().second === 0) return false;
    }
    return true;
  }
}
