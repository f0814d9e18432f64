import { expect, test } from 'bun:test';
import { Cells } from './cells.ts';

test('the earlier of both clocks closes the fence', () => {
  const cells = new Cells();
  expect(cells.held(0, 0)).toBe(false);
  cells.hold(1_000, 13_000, 1_800_000_012_000);
  expect(cells.held(12_999, 1_800_000_011_999)).toBe(true);
  expect(cells.held(13_000, 1_800_000_011_999)).toBe(false);
  expect(cells.held(12_999, 1_800_000_012_000)).toBe(false);
  expect(cells.heldUntil()).toBe(13_000);
  expect(cells.renewedAt()).toBe(1_000);
  cells.drop();
  expect(cells.held(1_001, 1_800_000_000_001)).toBe(false);
  expect(cells.heldUntil()).toBe(0);
});

test('fractions of a millisecond never lengthen the hold', () => {
  const cells = new Cells();
  cells.hold(0.9, 13_000.9, 2_000.9);
  expect(cells.heldUntil()).toBe(13_000);
  expect(cells.held(13_000.1, 0)).toBe(false);
});

test('another view of the same buffer sees what was written', () => {
  const main = new Cells();
  const thread = new Cells(main.buffer);
  main.beat(123_456);
  expect(thread.aliveAt()).toBe(123_456);
  thread.hold(1, 2_000, 2_000);
  expect(main.held(1_999, 1_999)).toBe(true);
});
