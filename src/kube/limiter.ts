/** The client-side rate limit: upstream's token bucket. */
import type { Clock } from '../runtime/clock.ts';
import { ConfigError } from './config-error.ts';

const DEFAULT_QPS = 5;
const DEFAULT_BURST = 10;

/** Makes requests wait so that no more than a burst, then a steady rate, leaves. */
export interface Limiter {
  /** Resolves when a token is ours, or at once when `signal` aborts (the token is given back). */
  wait(signal?: AbortSignal): Promise<void>;
}

/**
 * A bucket of `burst` tokens filled at `qps` a second. Waiters are served in order. As upstream:
 * a negative qps means no limit (undefined), 0 means 5, a burst of 0 with qps 0 means 10.
 * Throws ConfigError for a rate without a burst, with which nothing could ever leave.
 */
export function createLimiter(qps: number, burst: number, clock: Clock): Limiter | undefined {
  if (qps < 0) return undefined;
  if (qps > 0 && burst <= 0) {
    throw new ConfigError(
      `--kube-api-burst is ${burst} while --kube-api-qps is ${qps}; valid: a burst above 0`,
    );
  }
  return new TokenBucket(qps === 0 ? DEFAULT_QPS : qps, burst <= 0 ? DEFAULT_BURST : burst, clock);
}

class TokenBucket implements Limiter {
  readonly #perMs: number;
  readonly #burst: number;
  readonly #clock: Clock;
  /** Below zero: tokens that waiters have reserved. */
  #tokens: number;
  #filledAt: number;
  /** When the last reservation may leave. */
  #lastAt = 0;

  constructor(qps: number, burst: number, clock: Clock) {
    this.#perMs = qps / 1e3;
    this.#burst = burst;
    this.#clock = clock;
    this.#tokens = burst;
    this.#filledAt = clock.monotonic();
  }

  async wait(signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return;
    const now = this.#fill();
    this.#tokens -= 1;
    const delay = this.#tokens < 0 ? -this.#tokens / this.#perMs : 0;
    const dueAt = now + delay;
    this.#lastAt = dueAt;
    if (delay === 0) return;
    await this.#clock.sleep(delay, signal);
    if (signal?.aborted) this.#giveBack(dueAt);
  }

  /** Adds the tokens of the time that has passed; returns the present. */
  #fill(): number {
    const now = this.#clock.monotonic();
    const grown = this.#tokens + (now - this.#filledAt) * this.#perMs;
    this.#tokens = Math.min(this.#burst, grown);
    this.#filledAt = now;
    return now;
  }

  /** Upstream's rule: what was reserved after the cancelled one keeps its turn. */
  #giveBack(dueAt: number): void {
    const now = this.#fill();
    if (dueAt < now) return;
    const restored = 1 - (this.#lastAt - dueAt) * this.#perMs;
    if (restored <= 0) return;
    this.#tokens = Math.min(this.#burst, this.#tokens + restored);
    if (dueAt !== this.#lastAt) return;
    const previous = dueAt - 1 / this.#perMs;
    if (previous >= now) this.#lastAt = previous;
  }
}
