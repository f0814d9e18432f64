/**
 * Time zones by name, and calendar arithmetic in them as Go's time package does it: the same answer
 * for hours that don't exist, or exist twice, when clocks are put forward or back.
 */

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Days per zone whose offset is kept. */
const KNOWN_DAYS_MAX = 1_000;
const OFFSET = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/;
/** What Intl takes for a zone and the tz database doesn't know. */
const PLAIN_OFFSET = /^[+-]/;

/** A time zone. */
export interface Zone {
  /** Milliseconds that its clocks are ahead of UTC at an instant. */
  offsetMs(at: number): number;
}

/** A zone, or why there is none by that name, in Go's words. */
export type FoundZone =
  | { readonly zone: Zone; readonly problem?: undefined }
  | { readonly problem: string };

/** Finds zones by their name in the tz database. */
export interface Zones {
  /** The zone of the process, what Go calls "Local". */
  readonly local: Zone;
  /** As Go's LoadLocation: "" and "UTC" are UTC, "Local" is the process's, names are exact. */
  find(name: string): FoundZone;
}

/** What the clocks of a zone show. */
export interface CivilTime {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** 0 is Sunday. */
  readonly weekday: number;
}

/** Coordinated universal time. */
export const UTC: Zone = Object.freeze({ offsetMs: () => 0 });

/** Opens the zones; `localName` is the zone of the process, e.g. "Europe/Berlin". */
export function openZones(localName: string): Zones {
  const found = new Map<string, FoundZone>();
  const load = (name: string): FoundZone => {
    const known = found.get(name);
    if (known !== undefined) return known;
    const loaded = loadZone(name);
    // Names that don't exist can be anything: they are looked up again.
    if (loaded.problem === undefined) found.set(name, loaded);
    return loaded;
  };
  const own = load(localName);
  const local = own.problem === undefined ? own.zone : UTC;
  return { local, find: (name) => (name === 'Local' ? { zone: local } : load(name)) };
}

function loadZone(name: string): FoundZone {
  // The tz database has "Factory" for machines that nobody has set up; Intl hasn't.
  if (name === '' || name === 'UTC' || name === 'Factory') return { zone: UTC };
  if (name.includes('..') || name.startsWith('/') || name.startsWith('\\')) {
    return { problem: 'time: invalid location name' };
  }
  const unknown = { problem: `unknown time zone ${name}` };
  if (PLAIN_OFFSET.test(name)) return unknown;
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
    // Intl takes "europe/berlin" as well; the tz database is files, and their names are exact.
    if (format.resolvedOptions().timeZone !== name) return unknown;
    return { zone: new IntlZone(format) };
  } catch {
    return unknown;
  }
}

class IntlZone implements Zone {
  readonly #format: Intl.DateTimeFormat;
  /** Offset of a UTC day, undefined for a day on which it changes. */
  readonly #days = new Map<number, number | undefined>();

  constructor(format: Intl.DateTimeFormat) {
    this.#format = format;
  }

  offsetMs(at: number): number {
    const day = Math.floor(at / DAY_MS);
    if (!this.#days.has(day)) {
      const first = this.#ask(day * DAY_MS);
      const same = first === this.#ask((day + 1) * DAY_MS);
      if (this.#days.size >= KNOWN_DAYS_MAX) this.#days.clear();
      this.#days.set(day, same ? first : undefined);
    }
    return this.#days.get(day) ?? this.#ask(at);
  }

  #ask(at: number): number {
    const [, sign, hours, minutes, seconds = '0'] = OFFSET.exec(this.#format.format(at)) ?? [];
    if (sign === undefined) return 0;
    const size = (Number(hours) * 60 + Number(minutes)) * MINUTE_MS + Number(seconds) * SECOND_MS;
    return sign === '-' ? -size : size;
  }
}

/** What the clocks of a zone show at an instant. */
export function civilTime(zone: Zone, at: number): CivilTime {
  const shown = new Date(at + zone.offsetMs(at));
  return {
    year: shown.getUTCFullYear(),
    month: shown.getUTCMonth() + 1,
    day: shown.getUTCDate(),
    hour: shown.getUTCHours(),
    minute: shown.getUTCMinutes(),
    second: shown.getUTCSeconds(),
    weekday: shown.getUTCDay(),
  };
}

/**
 * The instant at which the clocks of a zone show a time; fields out of their range carry over. Of a
 * time that is shown twice, or never, it is the one Go's time.Date gives: the offset is that of the
 * instant at which UTC clocks show the time, corrected once if that was in another period.
 */
export function instantOf(zone: Zone, civil: Omit<CivilTime, 'weekday'>): number {
  // Date.UTC takes years below 100 for years of the last century.
  const date = new Date(0);
  date.setUTCFullYear(civil.year, civil.month - 1, civil.day);
  const shown = date.setUTCHours(civil.hour, civil.minute, civil.second, 0);
  const offset = zone.offsetMs(shown);
  return offset === 0 ? shown : shown - zone.offsetMs(shown - offset);
}

/** An instant as RFC 3339 in a zone, whole seconds: "2026-01-01T01:00:00+01:00", "Z" for UTC. */
export function zonedText(zone: Zone, at: number): string {
  const offset = zone.offsetMs(at);
  const text = new Date(at + offset).toISOString().slice(0, 19);
  if (offset === 0) return `${text}Z`;
  const minutes = Math.trunc(Math.abs(offset) / MINUTE_MS);
  const two = (value: number): string => String(value).padStart(2, '0');
  const sign = offset < 0 ? '-' : '+';
  return `${text}${sign}${two(Math.trunc(minutes / 60))}:${two(minutes % 60)}`;
}

/** An instant as RFC 1123 with a numeric zone, in UTC: "Mon, 02 Jan 2006 15:04:05 +0000". */
export function rfc1123Text(at: number): string {
  return `${new Date(at).toUTCString().slice(0, -'GMT'.length)}+0000`;
}
