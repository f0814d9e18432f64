import { describe, expect, test } from 'bun:test';
import { readReference } from './testing/reference.ts';
import { instantOf, openZones, rfc1123Text, type Zone, zonedText } from './zone.ts';

type Change = readonly [number, number];
/** Names of zones that are alike; their offset at the start of 2015, and each change of it. */
type Row = [string, [number, ...Change[]]];

const reference = readReference<Row>('zones-go1.26.8.txt');
const zones = openZones('Europe/Berlin');

/** Moldova's clocks follow the EU's hours since tz 2026a, which Go's copy of the database lacks. */
const NEWER_HERE = new Set(['Europe/Chisinau', 'Europe/Tiraspol']);

function zoneOf(name: string): Zone {
  const found = zones.find(name);
  if (found.problem !== undefined) throw new Error(found.problem);
  return found.zone;
}

/** Changes that differ from the reference's, as it knows them. */
function differences(name: string, first: number, changes: readonly Change[]): Change[] {
  const zone = zoneOf(name);
  let before = first;
  return changes.filter(([at, offset]) => {
    const known = [zone.offsetMs(at * 1000 - 1), zone.offsetMs(at * 1000)];
    const same = known[0] === before * 1000 && known[1] === offset * 1000;
    before = offset;
    return !same;
  });
}

describe(`as ${reference.from.go}`, () => {
  test('every zone is known and changes its clocks at the same instants', () => {
    const wrong: [string, Change[]][] = [];
    let checked = 0;
    for (const [names, [first, ...changes]] of reference.rows) {
      for (const name of names.split(' ')) {
        checked += 1 + changes.length;
        const found = NEWER_HERE.has(name) ? [] : differences(name, first, changes);
        if (found.length > 0) wrong.push([name, found]);
      }
    }
    expect(wrong).toEqual([]);
    expect(checked).toBeGreaterThan(9_000);
  });

  test('names are exact, and paths are none', () => {
    const invalid = 'time: invalid location name';
    expect(zones.find('europe/berlin').problem).toBe('unknown time zone europe/berlin');
    expect(zones.find('+01:00').problem).toBe('unknown time zone +01:00');
    expect(zones.find('AST').problem).toBe('unknown time zone AST');
    expect(zones.find('Mars/Olympus').problem).toBe('unknown time zone Mars/Olympus');
    expect(zones.find('../UTC').problem).toBe(invalid);
    expect(zones.find('/etc/localtime').problem).toBe(invalid);
    expect(zones.find('\\UTC').problem).toBe(invalid);
  });

  test('"" and "UTC" are UTC, "Local" is the zone of the process', () => {
    const summer = Date.parse('2026-07-01T00:00:00Z');
    expect(zoneOf('').offsetMs(summer)).toBe(0);
    expect(zoneOf('UTC').offsetMs(summer)).toBe(0);
    expect(zoneOf('Local').offsetMs(summer)).toBe(2 * 3_600_000);
    expect(zones.local.offsetMs(summer)).toBe(2 * 3_600_000);
    expect(openZones('No/Zone').local.offsetMs(summer)).toBe(0);
  });
});

describe('instantOf', () => {
  const at = (month: number, day: number, hour: number, minute = 0): string => {
    const civil = { year: 2026, month, day, hour, minute, second: 0 };
    return new Date(instantOf(zoneOf('Europe/Berlin'), civil)).toISOString();
  };

  test('fields out of their range carry over', () => {
    expect(at(13, 1, 0)).toBe('2026-12-31T23:00:00.000Z');
    expect(at(2, 30, 25)).toBe('2026-03-03T00:00:00.000Z');
  });

  test('an hour that clocks skip, and one that they show twice', () => {
    expect(at(3, 29, 2, 30)).toBe('2026-03-29T01:30:00.000Z');
    expect(at(10, 25, 2, 30)).toBe('2026-10-25T01:30:00.000Z');
  });
});

test('times as text', () => {
  const summer = Date.parse('2026-07-01T22:30:05.999Z');
  expect(zonedText(zoneOf('Europe/Berlin'), summer)).toBe('2026-07-02T00:30:05+02:00');
  expect(zonedText(zoneOf('America/St_Johns'), summer)).toBe('2026-07-01T20:00:05-02:30');
  expect(zonedText(zoneOf('UTC'), summer)).toBe('2026-07-01T22:30:05Z');
  expect(zonedText(zoneOf('Europe/London'), Date.parse('2026-01-01T00:00:00Z'))).toBe(
    '2026-01-01T00:00:00Z',
  );
  expect(rfc1123Text(summer)).toBe('Wed, 01 Jul 2026 22:30:05 +0000');
});
