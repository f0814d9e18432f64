import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { seededRandom, systemRandom } from './random.ts';

const UUID_4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe.each([
  ['systemRandom', systemRandom],
  ['seededRandom', () => seededRandom(42)],
])('%s', (_, make) => {
  test('draws numbers from 0 up to 1, evenly', () => {
    const random = make();
    const tenths = new Array<number>(10).fill(0);
    for (let i = 0; i < 20_000; i++) {
      const tenth = Math.floor(random.next() * 10);
      tenths[tenth] = (tenths[tenth] ?? 0) + 1;
    }
    expect(tenths).toHaveLength(10);
    for (const count of tenths) expect(Math.abs(count - 2_000)).toBeLessThan(300);
  });

  test('draws texts from an alphabet', () => {
    const random = make();
    expect(random.text(2_000, 'abc')).toMatch(/^[abc]{2000}$/);
    expect(random.text(0, 'abc')).toBe('');
    expect(new Set(random.text(2_000, 'abc')).size).toBe(3);
  });

  test('makes version 4 UUIDs that differ', () => {
    const random = make();
    const uuids = Array.from({ length: 100 }, () => random.uuid());
    for (const uuid of uuids) expect(uuid).toMatch(UUID_4);
    expect(new Set(uuids).size).toBe(100);
  });
});

test('a seed gives the same draws again, another seed others', () => {
  const draws = (seed: number) => {
    const random = seededRandom(seed);
    return [random.next(), random.text(8, 'abcdef'), random.uuid(), random.next()];
  };
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      expect(draws(seed)).toEqual(draws(seed));
      expect(draws(seed)).not.toEqual(draws(seed + 1));
    }),
  );
});
