/** The only place that reads the time. Everything else is handed a Clock. */

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
