/** One exchange with the server under way, and everything that may cut it. */
import { FencedError, TransportError } from '../api/errors.ts';
import type { Clock, Timer } from '../runtime/clock.ts';

/** The fetch fails with exactly the error that was given when it was cut. */
export class Attempt {
  readonly #what: string;
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  readonly #unlisten: (() => void)[] = [];
  #timer: { readonly timer: Timer; readonly dueAt: number } | undefined;
  /** When to cut (monotonic ms), and why; undefined while nothing is waited for. */
  #limit: { readonly endsAt: number; readonly cut: () => void } | undefined;

  /** `what` names the exchange in messages, e.g. "GET /api/v1/pods". */
  constructor(what: string, clock: Clock) {
    this.#what = what;
    this.#clock = clock;
  }

  /** For fetch. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Cuts when the caller's signal aborts. */
  stopWith(signal: AbortSignal | undefined): void {
    this.#listen(
      signal,
      (reason) => new TransportError(`${this.#what}: stopped by the caller`, reason),
    );
  }

  /** Cuts a write when this process may write no more. */
  fenceWith(signal: AbortSignal): void {
    this.#listen(
      signal,
      () => new FencedError(`not the leader any more: ${this.#what} was cut off under way`),
    );
  }

  /** Cuts after `ms` unless set again or cleared; `why` completes the message. */
  limit(ms: number, why: string): void {
    const cut = () =>
      this.cut(new TransportError(`${this.#what}: ${why} within ${Math.round(ms / 1e3)} s`));
    this.#limit = { endsAt: this.#clock.monotonic() + ms, cut };
    this.#arm(this.#limit.endsAt);
  }

  /** The timer stays: a stream sets the same limit for each of many reads. */
  unlimited(): void {
    this.#limit = undefined;
  }

  #arm(dueAt: number): void {
    if (this.signal.aborted || (this.#timer !== undefined && this.#timer.dueAt <= dueAt)) return;
    this.#timer?.timer.cancel();
    const wake = () => {
      this.#timer = undefined;
      if (this.#limit === undefined) return;
      if (this.#clock.monotonic() >= this.#limit.endsAt) this.#limit.cut();
      else this.#arm(this.#limit.endsAt);
    };
    const delayMs = dueAt - this.#clock.monotonic();
    this.#timer = { timer: this.#clock.after(delayMs, wake, { background: true }), dueAt };
  }

  cut(error: Error): void {
    this.#controller.abort(error);
  }

  /** What the promise gives, unless this is cut first. */
  async during<T>(promise: Promise<T>): Promise<T> {
    let forget: (() => void) | undefined;
    const cut = new Promise<never>((_, reject) => {
      const fail = () => reject(this.signal.reason);
      if (this.signal.aborted) fail();
      this.signal.addEventListener('abort', fail, { once: true });
      forget = () => this.signal.removeEventListener('abort', fail);
    });
    try {
      return await Promise.race([promise, cut]);
    } finally {
      forget?.();
    }
  }

  /** Must be called once when the exchange is over, however it ended. */
  end(): void {
    this.unlimited();
    this.#timer?.timer.cancel();
    this.#timer = undefined;
    for (const unlisten of this.#unlisten) unlisten();
    this.#unlisten.length = 0;
  }

  /** What to throw for a failure: the reason of the cut, or what the connection died of. */
  failure(error: unknown): Error {
    const reason: unknown = this.#controller.signal.reason;
    if (this.#controller.signal.aborted && reason instanceof Error) return reason;
    return connectionError(this.#what, error);
  }

  #listen(signal: AbortSignal | undefined, reason: (why: unknown) => Error): void {
    if (signal === undefined) return;
    const cut = () => this.cut(reason(signal.reason));
    if (signal.aborted) {
      cut();
      return;
    }
    this.#unlisten.push(onAbort(signal, cut));
  }
}

const listening = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back when the signal aborts; gives what ends that. However many requests share a signal, it
 * has one listener of ours: a signal looks through all that it has to take one away.
 */
function onAbort(signal: AbortSignal, callback: () => void): () => void {
  let callbacks = listening.get(signal);
  if (callbacks === undefined) {
    const all = new Set<() => void>();
    callbacks = all;
    listening.set(signal, all);
    const tell = (): void => {
      for (const one of [...all]) one();
    };
    signal.addEventListener('abort', tell, { once: true });
  }
  const mine = callbacks;
  mine.add(callback);
  return () => {
    mine.delete(callback);
  };
}

/** The connection was reset before any answer: only a GET may simply be sent again. */
export class ResetError extends TransportError {}

function connectionError(what: string, error: unknown): TransportError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const text = error instanceof Error ? error.message : String(error);
  const why = EXPLAINED[code] ?? text;
  const message = `${what}: ${why}${code === '' || why.includes(code) ? '' : ` (${code})`}`;
  return code === 'ECONNRESET' || code === 'ConnectionClosed'
    ? new ResetError(message, error)
    : new TransportError(message, error);
}

/** Plain words for what Bun reports with advice that doesn't fit here. */
const EXPLAINED: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was closed before the answer was complete',
  ConnectionClosed: 'the connection was closed before the answer was complete',
  ETIMEDOUT: 'the connection timed out',
  ENOTFOUND: 'the host name does not resolve',
  FailedToOpenSocket: 'no connection could be opened',
};
