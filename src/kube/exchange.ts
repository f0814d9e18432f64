/** One request until its final answer: rate limit, attempts and retries as upstream's client. */
import { FencedError, TransportError } from '../api/errors.ts';
import type { Clock } from '../runtime/clock.ts';
import { REQUEST_RETRIES_MAX } from '../runtime/limits.ts';
import type { Logger } from '../runtime/log.ts';
import { retryAfterSeconds } from './answer.ts';
import { ResetError } from './attempt.ts';
import type { Limiter } from './limiter.ts';
import type { ClientMetrics } from './metrics.ts';
import type { Transport, Verb, WireAnswer, WireRequest, WireStream } from './transport.ts';

const RESET_DELAY_MS = 1_000;
const LONG_THROTTLE_MS = 50;

/** What a client needs for its requests. */
export interface ExchangeDeps {
  readonly transport: Transport;
  readonly limiter: Limiter | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: ClientMetrics;
}

/** The answer to the last attempt. */
export interface FinalAnswer extends WireAnswer {
  readonly followsServerError?: boolean;
}

/**
 * Sends a request and, if the server asks for it, sends it again. Any verb is repeated after a 429
 * or 5xx with Retry-After; a GET also after a reset, one second later. At most 10 times. A write
 * without an answer is never repeated. Throws what the last attempt threw. `followsServerError` tells
 * that an attempt before the last one was answered 5xx.
 */
export async function exchange(deps: ExchangeDeps, request: WireRequest): Promise<FinalAnswer> {
  const startedAt = deps.clock.monotonic();
  const { verb, signal } = request;
  try {
    await throttle(deps, verb, signal);
    let last = 0;
    let followsServerError = false;
    const answer = await untilFinal(deps, request, async () => {
      followsServerError ||= last >= 500;
      deps.metrics.requestSize(verb, Buffer.byteLength(request.body ?? ''));
      const attempt = await deps.transport.send(request);
      last = attempt.code;
      return attempt;
    });
    deps.metrics.responseSize(verb, answer.bytes);
    return followsServerError ? { ...answer, followsServerError } : answer;
  } finally {
    deps.metrics.finished(verb, deps.clock.monotonic() - startedAt);
  }
}

/**
 * Opens a stream. As upstream, watches don't wait for the rate limit the first time; a server that
 * answers Retry-After is asked again, a lost connection is left to the caller.
 */
export function openStream(deps: ExchangeDeps, request: WireRequest): Promise<WireStream> {
  if (deps.transport.isFull('watch')) {
    const message = 'no place for another watch until one ends; set BUN_CONFIG_MAX_HTTP_REQUESTS';
    deps.log.warning(message, { path: request.path });
  }
  return untilFinal(deps, request, () => deps.transport.open(request));
}

async function untilFinal<A extends { readonly code: number; readonly headers: Headers }>(
  deps: ExchangeDeps,
  request: WireRequest,
  attempt: () => Promise<A & { close?(): void }>,
): Promise<A> {
  const { verb, signal } = request;
  for (let retries = 0; ; retries++) {
    if (signal?.aborted) {
      const what = `${verb} ${request.path}`;
      throw new TransportError(`${what}: stopped by the caller`, signal.reason);
    }
    let answer: (A & { close?(): void }) | undefined;
    let failure: unknown;
    try {
      answer = await attempt();
    } catch (error) {
      failure = error;
    }
    if (!(failure instanceof FencedError)) {
      deps.metrics.attempt(answer?.code ?? '<error>', verb, retries > 0);
    }
    logAnswer(deps.log, request, answer?.code, failure);
    const delay = retries < REQUEST_RETRIES_MAX ? delayAfter(verb, answer, failure) : undefined;
    if (delay === undefined) {
      if (answer === undefined) throw failure;
      return answer;
    }
    answer?.close?.();
    const why = { verb, path: request.path, delayMs: delay, attempt: retries + 1 };
    deps.log.v(4).info('Got a Retry-After response', why);
    await deps.clock.sleep(delay, signal);
    await throttle(deps, verb, signal);
  }
}

/** How long to wait before trying again; undefined: this is the final answer. */
function delayAfter(
  verb: Verb,
  answer: { readonly code: number; readonly headers: Headers } | undefined,
  failure: unknown,
): number | undefined {
  if (answer === undefined) {
    return verb === 'GET' && failure instanceof ResetError ? RESET_DELAY_MS : undefined;
  }
  if (answer.code !== 429 && answer.code < 500) return undefined;
  const seconds = retryAfterSeconds(answer.headers);
  return seconds === undefined ? undefined : Math.max(0, seconds) * 1e3;
}

function logAnswer(
  log: Logger,
  { verb, path }: WireRequest,
  status: number | undefined,
  failure: unknown,
): void {
  if (!log.enabled(6)) return;
  const outcome = failure === undefined ? { status } : { error: String(failure) };
  log.v(6).info('Response', { verb, url: path, ...outcome });
}

async function throttle(
  deps: ExchangeDeps,
  verb: Verb,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (deps.limiter === undefined) return;
  const before = deps.clock.monotonic();
  await deps.limiter.wait(signal);
  const waited = deps.clock.monotonic() - before;
  deps.metrics.throttled(verb, waited);
  if (waited > LONG_THROTTLE_MS) {
    const reason = 'client-side throttling, not priority and fairness';
    deps.log.v(3).info('Waited before sending request', { delayMs: waited, reason, verb });
  }
}
