import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { LineSplitter } from './lines.ts';

test('lines come out whole however the bytes are cut', () => {
  const line = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ''));
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.integer({ min: 1, max: 9 })), (lines, cuts) => {
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
      const splitter = new LineSplitter(10_000);
      const out: string[] = [];
      let at = 0;
      for (const cut of [...cuts, bytes.length]) {
        out.push(...splitter.push(bytes.subarray(at, at + cut)));
        at += cut;
      }
      expect(out).toEqual(lines.filter((text) => text !== ''));
      expect(splitter.pendingBytes).toBe(0);
    }),
  );
});

test('a line that has not ended is pending, and may not grow without bound', () => {
  const splitter = new LineSplitter(10);
  expect(splitter.push(Buffer.from('abc'))).toEqual([]);
  expect(splitter.pendingBytes).toBe(3);
  expect(() => splitter.push(Buffer.from('defghijk'))).toThrow('a line is longer than 10 bytes');
});
