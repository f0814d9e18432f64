/** A clock for tests and simulations: time stands still until `advance` moves it. */
import { type Clock, sleepOn, type Timer } from '../clock.ts';

/** A Clock moved by hand. Wall and monotonic time go forward together unless `setWall` is used. */
export interface FakeClock extends Clock {
  /**
   * Moves time forward, firing due timers in order of due time (then of starting). After each
   * firing, and once at the end, everything that was waiting on a promise gets to run.
   */
  advance(ms: number): Promise<void>;
  /** Lets everything that waits on settled promises run, without moving time. */
  settle(): Promise<void>;
  /** Sets the wall clock, as an operator or NTP would; timers and `monotonic` don't notice. */
  setWall(epochMs: number): void;
  /** Number of timers not yet fired. */
  timers(): number;
}

interface Pending {
  readonly dueAt: number;
  readonly fire: () => void;
}

const BOOT_OFFSET_MS = 100_000;

function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

function earliest(pending: ReadonlySet<Pending>): Pending | undefined {
  let first: Pending | undefined;
  for (const timer of pending) {
    if (first === undefined || timer.dueAt < first.dueAt) first = timer;
  }
  return first;
}

/** A FakeClock whose wall time starts at `startMs` and whose boot was 100 s earlier. */
export function fakeClock(startMs: number): FakeClock {
  const pending = new Set<Pending>();
  let monotonic = BOOT_OFFSET_MS;
  let wallOffset = startMs - monotonic;

  const after = (delayMs: number, fire: () => void): Timer => {
    const timer = { dueAt: monotonic + Math.max(0, delayMs), fire };
    pending.add(timer);
    return { cancel: () => pending.delete(timer) };
  };
  const advance = async (ms: number): Promise<void> => {
    const until = monotonic + ms;
    await settle();
    for (let next = earliest(pending); next && next.dueAt <= until; next = earliest(pending)) {
      pending.delete(next);
      monotonic = Math.max(monotonic, next.dueAt);
      next.fire();
      await settle();
    }
    monotonic = until;
    await settle();
  };
  return {
    now: () => monotonic + wallOffset,
    monotonic: () => monotonic,
    after,
    sleep: (delayMs, signal) => sleepOn({ after }, delayMs, signal),
    advance,
    settle,
    setWall: (epochMs) => {
      wallOffset = epochMs - monotonic;
    },
    timers: () => pending.size,
  };
}
