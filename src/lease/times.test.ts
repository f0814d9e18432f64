import { expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  acquireWaitMs,
  callTimeoutMs,
  checkTimes,
  type ElectionTimes,
  holdMs,
  leaseSeconds,
  microTime,
} from './times.ts';

function times(lease: number, renew: number, retry: number): ElectionTimes {
  return { leaseDurationMs: lease, renewDeadlineMs: renew, retryPeriodMs: retry };
}

test.each([
  [times(15_000, 10_000, 0), '--leader-elect-retry-period is 0s; it must be greater than zero'],
  [
    times(15_000, 2_400, 2_000),
    '--leader-elect-renew-deadline is 2.4s; it must be greater than 1.2 retry periods (2.4s)',
  ],
  [
    times(10_000, 10_000, 2_000),
    '--leader-elect-lease-duration is 10s; it must be greater than --leader-elect-renew-deadline (10s)',
  ],
  [times(900, 500, 200), '--leader-elect-lease-duration is 0.9s; it must be at least 1s'],
  [
    times(15_000, Number.NaN, 2_000),
    '--leader-elect-renew-deadline is NaNs; it must be greater than 1.2 retry periods (2.4s)',
  ],
])('refuses %j', (given, message) => {
  expect(() => checkTimes(given)).toThrow(new RangeError(message));
});

test.each([
  [times(15_000, 10_000, 2_000), 12_000],
  [times(3_000, 2_000, 500), 2_500],
  [times(15_000, 14_000, 10_000), 13_500],
  [times(2_900, 2_500, 500), 1_800],
])('of %j a holder uses %p ms', (given, hold) => {
  checkTimes(given);
  expect(holdMs(given)).toBe(hold);
});

test('a holder always stops before the duration it has written', () => {
  const valid = fc
    .record({
      retry: fc.integer({ min: 1, max: 60_000 }),
      renewBy: fc.double({ min: 1.21, max: 20, noNaN: true }),
      leaseBy: fc.double({ min: 1.0001, max: 5, noNaN: true }),
    })
    .map(({ retry, renewBy, leaseBy }) => times(retry * renewBy * leaseBy, retry * renewBy, retry))
    .filter((given) => given.leaseDurationMs >= 1_000);
  fc.assert(
    fc.property(valid, (given) => {
      checkTimes(given);
      const duration = leaseSeconds(given) * 1_000;
      expect(holdMs(given)).toBeLessThanOrEqual(duration * 0.9);
      expect(holdMs(given)).toBeGreaterThan(0);
    }),
  );
});

test('a call may take half the deadline, at least a second', () => {
  expect(callTimeoutMs(times(15_000, 10_000, 2_000))).toBe(5_000);
  expect(callTimeoutMs(times(3_000, 1_500, 500))).toBe(1_000);
});

test('the wait to acquire lies between one and 2.2 retry periods', () => {
  expect(acquireWaitMs(times(15_000, 10_000, 2_000), 0)).toBe(2_000);
  expect(acquireWaitMs(times(15_000, 10_000, 2_000), 1)).toBe(4_400);
});

test('times are written in microseconds', () => {
  const wall = Date.parse('2026-02-03T04:05:06.789Z');
  expect(microTime(wall)).toBe('2026-02-03T04:05:06.789000Z');
  expect(microTime(wall + 0.25)).toBe('2026-02-03T04:05:06.789250Z');
});
