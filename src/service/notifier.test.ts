import { describe, expect, test } from 'bun:test';
import { fakeClock } from '../runtime/testing/fake-clock.ts';
import { watchdogMs } from './index.ts';
import { Notifier, type ServiceState } from './notifier.ts';

const EXTENDED = 'EXTEND_TIMEOUT_USEC=30000000';

function stage(options: { watchdogMs?: number } = {}) {
  const sent: string[] = [];
  const world = { isOpen: true, state: { ready: false, status: 'Waiting' } as ServiceState };
  const clock = fakeClock(0);
  const notifier = new Notifier({
    socket: {
      send: (text) => {
        if (world.isOpen) sent.push(...text.split('\n'));
        return world.isOpen;
      },
      close: () => undefined,
    },
    clock,
    monotonicUs: () => 5_000_000,
    watchdogMs: options.watchdogMs ?? 0,
  });
  const heard = () => sent.splice(0);
  return { clock, notifier, world, heard };
}

describe('the notifier', () => {
  test('is ready once, when the process is, and asks for patience until then', async () => {
    const { clock, notifier, world, heard } = stage();
    expect(heard()).toEqual(['STATUS=Starting', EXTENDED]);
    notifier.follow(() => world.state);
    expect(heard()).toEqual(['STATUS=Waiting']);
    await clock.advance(2_000);
    expect(heard()).toEqual([EXTENDED, EXTENDED]);
    world.state = { ready: true, status: 'Leading' };
    notifier.look();
    expect(heard()).toEqual(['READY=1', 'STATUS=Leading']);
    world.state = { ready: false, status: 'Waiting\nagain' };
    await clock.advance(60_000);
    expect(heard()).toEqual(['STATUS=Waiting again']);
  });

  test('feeds the watchdog at half of its patience, until it is closed', async () => {
    const { clock, notifier, world, heard } = stage({ watchdogMs: 4_000 });
    world.state = { ready: true, status: 'Leading' };
    notifier.follow(() => world.state);
    heard();
    await clock.advance(1_000);
    expect(heard()).toEqual(['WATCHDOG=1']);
    await clock.advance(10_000);
    expect(heard()).toEqual(Array(5).fill('WATCHDOG=1'));
    notifier.stopping('Stopping');
    expect(heard()).toEqual(['STOPPING=1', 'STATUS=Stopping']);
    await clock.advance(2_000);
    expect(heard()).toEqual(['WATCHDOG=1']);
    notifier.close();
    expect(clock.timers()).toBe(0);
  });

  test('a reload stands between RELOADING and READY, also one that fails', () => {
    const { notifier, world, heard } = stage();
    world.state = { ready: true, status: 'Leading' };
    notifier.follow(() => world.state);
    heard();
    notifier.reload(() => expect(heard()).toEqual(['RELOADING=1', 'MONOTONIC_USEC=5000000']));
    expect(heard()).toEqual(['READY=1']);
    const failing = () => {
      throw new Error('no');
    };
    expect(() => notifier.reload(failing)).toThrow('no');
    expect(heard()).toEqual(['RELOADING=1', 'MONOTONIC_USEC=5000000', 'READY=1']);
  });

  test('a reload before it is ready, or at the end, does not make it ready', () => {
    const { notifier, heard } = stage();
    heard();
    let reloads = 0;
    notifier.reload(() => reloads++);
    expect(heard()).toEqual([]);
    notifier.stopping('Stopping');
    heard();
    notifier.reload(() => reloads++);
    expect([reloads, heard()]).toEqual([2, []]);
  });

  test('says later what did not leave, but feeds no watchdog afterwards', async () => {
    const { clock, notifier, world, heard } = stage({ watchdogMs: 4_000 });
    world.isOpen = false;
    heard();
    world.state = { ready: true, status: 'Leading' };
    notifier.follow(() => world.state);
    await clock.advance(6_000);
    expect(heard()).toEqual([]);
    world.isOpen = true;
    notifier.look();
    expect(heard()).toEqual(['READY=1', 'STATUS=Leading']);
  });
});

test.each([
  ['', '', 0],
  ['3000000', '', 3_000],
  ['3000000', '42', 3_000],
  ['3000000', '41', 0],
  ['soon', '', 0],
])('WATCHDOG_USEC %p and WATCHDOG_PID %p give pid 42 %p ms', (watchdogUsec, watchdogPid, ms) => {
  expect(watchdogMs({ notifySocket: '', watchdogUsec, watchdogPid }, 42)).toBe(ms);
});
