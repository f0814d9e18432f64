import { beforeEach, describe, expect, test } from 'bun:test';
import { createLogStreams, type LogStreamsOptions } from './log-streams.ts';
import { type FakeClock, fakeClock } from './testing/fake-clock.ts';

let clock: FakeClock;
let out: string[];
let err: string[];

beforeEach(() => {
  clock = fakeClock(0);
  out = [];
  err = [];
});

function streams(options: Partial<LogStreamsOptions>) {
  return createLogStreams({
    format: 'text',
    split: true,
    bufferBytes: 0,
    flushMs: 5_000,
    out: (lines) => out.push(lines),
    err: (lines) => err.push(lines),
    clock,
    ...options,
  });
}

describe('lines of the log', () => {
  test('go to one stream, at once, whatever the buffer', () => {
    const log = streams({ split: false, bufferBytes: 100 });
    for (const severity of ['I', 'W', 'E'] as const) log.write(severity, severity);
    expect([out, err]).toEqual([[], ['I', 'W', 'E']]);
  });

  test('are split: info messages here, warnings and errors there', () => {
    const log = streams({});
    for (const severity of ['I', 'W', 'E'] as const) log.write(severity, severity);
    expect([out, err]).toEqual([['I'], ['W', 'E']]);
  });
});

test('in JSON a warning is an info message', () => {
  const log = streams({ format: 'json' });
  for (const severity of ['I', 'W', 'E'] as const) log.write(severity, severity);
  expect([out, err]).toEqual([['I', 'W'], ['E']]);
});

describe('buffered info messages', () => {
  test('wait until there are enough of them; others wait for none', () => {
    const log = streams({ bufferBytes: 8 });
    log.write('one', 'I');
    log.write('bad', 'E');
    log.write('two', 'I');
    expect([out, err]).toEqual([[], ['bad']]);
    log.write('x', 'I');
    expect(out).toEqual(['one\ntwo']);
  });

  test('that are longer than the buffer wait not at all, in order', () => {
    const log = streams({ bufferBytes: 8 });
    log.write('one', 'I');
    log.write('a long line', 'I');
    expect(out).toEqual(['one', 'a long line']);
  });

  test('wait no longer than the flush frequency, from the first on', async () => {
    const log = streams({ bufferBytes: 100 });
    log.write('one', 'I');
    await clock.advance(4_000);
    log.write('two', 'I');
    await clock.advance(999);
    expect(out).toEqual([]);
    await clock.advance(1);
    expect(out).toEqual(['one\ntwo']);
    expect(clock.timers()).toBe(0);
  });

  test('come out at the end, and later ones at once', () => {
    const log = streams({ bufferBytes: 100 });
    log.write('one', 'I');
    log.end();
    log.write('two', 'I');
    expect(out).toEqual(['one', 'two']);
    expect(clock.timers()).toBe(0);
  });
});
