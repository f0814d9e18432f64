/** The only place that reads the time. Everything else is handed a Clock. */
import { FFIType, ptr } from 'bun:ffi';
import { readFileSync } from 'node:fs';
import { openCLibrary } from './c-library.ts';
import { TIMER_STEP_MAX_MS } from './limits.ts';

/** A timer that can be cancelled. */
export interface Timer {
  cancel(): void;
}

/** Time as the process sees it; replaced whole by simulations. */
export interface Clock {
  /** Wall time, milliseconds since the epoch. */
  now(): number;
  /** Milliseconds that only go forward, across suspend as well (CLOCK_BOOTTIME). */
  monotonic(): number;
  /** Calls `fire` once after `delayMs`; the timer keeps the process alive unless `background`. */
  after(delayMs: number, fire: () => void, options?: { background?: boolean }): Timer;
  /** Resolves after `delayMs`, or at once when `signal` aborts. Never rejects. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

const CLOCK_MONOTONIC = 1;
const CLOCK_BOOTTIME = 7;

/** Reads one of the kernel's clocks in milliseconds; undefined where the C library can't be asked. */
function kernelClock(id: number): (() => number) | undefined {
  const libc = openCLibrary({
    clock_gettime: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 },
  });
  if (libc === undefined) return undefined;
  // A real ArrayBuffer: the memory of a small typed array may move once its buffer is asked for.
  const memory = new ArrayBuffer(16);
  const words = new Uint32Array(memory);
  const address = ptr(memory);
  const read = libc.clock_gettime;
  if (read(id, address) !== 0) return undefined;
  return () => {
    read(id, address);
    return (words[0] ?? 0) * 1e3 + (words[2] ?? 0) / 1e6;
  };
}

/** CLOCK_MONOTONIC in microseconds, as systemd wants it beside RELOADING=1; 0 if it can't be read. */
export function kernelMonotonicUs(): number {
  return Math.floor((kernelClock(CLOCK_MONOTONIC)?.() ?? 0) * 1e3);
}

function bootTimeOfProc(): number {
  const text = readFileSync('/proc/uptime', 'latin1');
  return Number.parseFloat(text) * 1e3;
}

/** Reads CLOCK_BOOTTIME: 60 ns through the C library, else /proc/uptime in steps of 10 ms. */
function openBootTime(): () => number {
  return kernelClock(CLOCK_BOOTTIME) ?? bootTimeOfProc;
}

/** Waits on any clock's timers: resolves after `delayMs` or when `signal` aborts. Never rejects. */
export function sleepOn(
  clock: Pick<Clock, 'after'>,
  delayMs: number,
  signal?: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve();
      return;
    }
    const wake = () => {
      timer.cancel();
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const timer = clock.after(delayMs, wake);
    signal?.addEventListener('abort', wake, { once: true });
  });
}

/** Fires once `monotonic` has gone forward by `delayMs`, never earlier, never inside this call. */
function startTimer(
  monotonic: () => number,
  delayMs: number,
  fire: () => void,
  background: boolean,
): Timer {
  const dueAt = monotonic() + Math.max(0, delayMs);
  const arm = () => {
    const step = Math.min(Math.ceil(Math.max(0, dueAt - monotonic())), TIMER_STEP_MAX_MS);
    const handle = setTimeout(tick, step);
    if (background) handle.unref();
    return handle;
  };
  const tick = () => {
    if (monotonic() >= dueAt) fire();
    else handle = arm();
  };
  let handle = arm();
  return { cancel: () => clearTimeout(handle) };
}

/**
 * The clock of the real process. `monotonic` counts since boot and is the same in all threads and
 * processes of one boot. Timers follow `monotonic`, so after a suspend one may be late by up to a
 * minute but never by the length of the suspend.
 */
export function systemClock(): Clock {
  const monotonic = openBootTime();
  const clock: Clock = {
    now: () => Date.now(),
    monotonic,
    after: (delayMs, fire, options) =>
      startTimer(monotonic, delayMs, fire, options?.background ?? false),
    sleep: (delayMs, signal) => sleepOn(clock, delayMs, signal),
  };
  return clock;
}
