/** The durations of an election: checked, and what follows from them. */

/** The three election flags, milliseconds. */
export interface ElectionTimes {
  /** --leader-elect-lease-duration */
  readonly leaseDurationMs: number;
  /** --leader-elect-renew-deadline */
  readonly renewDeadlineMs: number;
  /** --leader-elect-retry-period */
  readonly retryPeriodMs: number;
}

/** Waits while acquiring are drawn between the retry period and (1 + this) times it. */
const ACQUIRE_JITTER = 1.2;
const CALL_TIMEOUT_MS_MIN = 1_000;
/** Of a record's duration, the share beyond which a holder never counts on the Lease. */
const USABLE_SHARE_OF_DURATION = 0.8;

/**
 * Refuses times with which no election can work, as upstream does when its election starts: each
 * positive, the duration above the deadline, the deadline above 1.2 retry periods. A duration under
 * a second is refused too, for the Lease holds whole seconds. Throws RangeError naming the flag.
 */
export function checkTimes(times: ElectionTimes): void {
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = times;
  const refuse = (flag: string, found: number, wanted: string): never => {
    throw new RangeError(`--leader-elect-${flag} is ${found / 1_000}s; it must be ${wanted}`);
  };
  if (!(retryPeriodMs > 0)) refuse('retry-period', retryPeriodMs, 'greater than zero');
  if (!(renewDeadlineMs > ACQUIRE_JITTER * retryPeriodMs)) {
    const least = (ACQUIRE_JITTER * retryPeriodMs) / 1_000;
    refuse('renew-deadline', renewDeadlineMs, `greater than 1.2 retry periods (${least}s)`);
  }
  if (!(leaseDurationMs > renewDeadlineMs)) {
    const least = `greater than --leader-elect-renew-deadline (${renewDeadlineMs / 1_000}s)`;
    refuse('lease-duration', leaseDurationMs, least);
  }
  if (leaseDurationMs < 1_000) refuse('lease-duration', leaseDurationMs, 'at least 1s');
}

/** What is written as leaseDurationSeconds: whole seconds, rounded down as upstream does. */
export function leaseSeconds(times: ElectionTimes): number {
  return Math.floor(times.leaseDurationMs / 1_000);
}

/**
 * How long a holder counts on the Lease after sending a renewal that succeeded. Upstream's holder
 * acts up to one retry period plus the renew deadline; here at least half of the gap between
 * deadline and duration is kept free as well, for requests that are still under way at that moment.
 */
export function holdMs(times: ElectionTimes): number {
  const duration = leaseSeconds(times) * 1_000;
  const renew = Math.min(times.renewDeadlineMs, USABLE_SHARE_OF_DURATION * duration);
  return Math.min(renew + times.retryPeriodMs, (duration + renew) / 2);
}

/** Limit of one call to the API server: half the renew deadline, at least a second. */
export function callTimeoutMs(times: ElectionTimes): number {
  return Math.max(CALL_TIMEOUT_MS_MIN, times.renewDeadlineMs / 2);
}

/** The wait between two tries to acquire; `random` is uniform in [0, 1). */
export function acquireWaitMs(times: ElectionTimes, random: number): number {
  return times.retryPeriodMs * (1 + ACQUIRE_JITTER * random);
}

/** Wall time (milliseconds) as the API writes a MicroTime. */
export function microTime(wallMs: number): string {
  const whole = Math.floor(wallMs);
  const micros = Math.floor((wallMs - whole) * 1_000);
  return new Date(whole).toISOString().replace('Z', `${String(micros).padStart(3, '0')}Z`);
}
