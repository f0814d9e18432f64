import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  canonicalJson,
  fnv1a32,
  fnv1a128,
  fnv1of32,
  revisionHash,
  safeEncode,
  templateHash,
} from './hash.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

test.each([
  ['', 0x811c9dc5],
  ['a', 0xe40c292c],
  ['b', 0xe70c2de5],
  ['foobar', 0xbf9cf968],
])('FNV-1a of %p', (text, expected) => {
  expect(fnv1a32(bytes(text))).toBe(expected);
});

test.each([
  ['', 0x811c9dc5],
  ['a', 0x050c5d7e],
  ['b', 0x050c5d7d],
  ['foobar', 0x31f0b262],
])('FNV-1 of %p', (text, expected) => {
  expect(fnv1of32(bytes(text))).toBe(expected);
});

test('the hash of a revision is of its bytes and the collision count in decimal', () => {
  expect(revisionHash('é', undefined)).toBe(safeEncode(String(fnv1of32(bytes('é')))));
  expect(revisionHash('a', 17)).toBe(revisionHash('a17', undefined));
  expect(revisionHash('a', 0)).not.toBe(revisionHash('a', undefined));
});

test.each([
  ['', '6c62272e07bb014262b821756295c58d'],
  ['a', 'd228cb696f1a8caf78912b704e4a8964'],
  ['foobar', '343e1662793c64bf6f0d3597ba446f18'],
])('FNV-1a of 128 bits of %p', (text, expected) => {
  expect(fnv1a128(bytes(text))).toBe(expected);
});

test('FNV-1a of 128 bits is exact for any bytes', () => {
  const exact = (text: Uint8Array): string => {
    let hash = 0x6c62272e07bb014262b821756295c58dn;
    for (const byte of text) hash = BigInt.asUintN(128, (hash ^ BigInt(byte)) * (2n ** 88n + 315n));
    return hash.toString(16).padStart(32, '0');
  };
  fc.assert(fc.property(fc.uint8Array(), (text) => expect(fnv1a128(text)).toBe(exact(text))));
});

test('safe encoding maps each character by its code into the alphabet', () => {
  // '0' is 48, 48 mod 27 is 21: the 22nd character of the alphabet.
  expect(safeEncode('0123456789')).toBe('456789bcdf');
  expect(safeEncode('')).toBe('');
});

test('canonical JSON does not depend on the order of fields, and keeps long integers', () => {
  const value = { b: [{ d: 1, c: null }], a: 'x', n: 9223372036854775807n };
  expect(canonicalJson(value)).toBe('{"a":"x","b":[{"c":null,"d":1}],"n":9223372036854775807}');
});

describe('hash of a template', () => {
  const template = { metadata: { labels: { a: '1', b: '2' } }, spec: { containers: [] } };

  test("has the shape of upstream's, and does not depend on the order of fields", () => {
    const turned = { spec: { containers: [] }, metadata: { labels: { b: '2', a: '1' } } };
    expect(templateHash(turned, undefined)).toBe(templateHash(template, undefined));
    expect(templateHash(template, undefined)).toMatch(/^[bcdf456789]{1,10}$/);
  });

  test('differs by collision count, where 0 is not the same as none', () => {
    const counts = [undefined, 0, 1, 2, 256];
    expect(new Set(counts.map((count) => templateHash(template, count))).size).toBe(counts.length);
  });

  test('a changed label gives another hash', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        fc.pre(a !== b);
        const of = (value: string) =>
          templateHash({ metadata: { labels: { value } }, spec: { containers: [] } }, undefined);
        expect(of(a)).not.toBe(of(b));
      }),
      { seed: 1, numRuns: 200 },
    );
  });
});
