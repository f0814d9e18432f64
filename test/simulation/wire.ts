/** The connection of one process to the model API server, with all that may go wrong on it. */
import { FencedError, TransportError } from '../../src/api/errors.ts';
import { ResetError } from '../../src/kube/attempt.ts';
import type { Transport, WireAnswer, WireRequest, WireStream } from '../../src/kube/transport.ts';
import { Refused } from './api-model.ts';
import type { Dice } from './dice.ts';
import { type Answer, type ModelServer, refusal } from './server.ts';
import type { Life, Timeline } from './timeline.ts';
import { ModelWatch } from './watch-model.ts';
import type { Fate, Weather } from './weather.ts';

export interface WireDeps {
  readonly time: Timeline;
  readonly server: ModelServer;
  readonly life: Life;
  readonly dice: Dice;
  weather(): Weather;
  /** Each request that leaves, and what became of it: for the trace, and to kill at. */
  told(what: string): void;
}

const LATE_MAX_MS = 45_000;
const RETRY_AFTER_MAX_SECONDS = 3;

/** Stands where `Transport` stands in the real process. */
export class ModelWire implements Pick<Transport, 'send' | 'open' | 'isFull'> {
  readonly #deps: WireDeps;
  readonly #watches = new Set<ModelWatch>();
  readonly #forget: () => void;

  constructor(deps: WireDeps) {
    this.#deps = deps;
    this.#forget = deps.server.api.onChange((change) => {
      for (const watch of this.#watches) watch.changed(change);
    });
  }

  isFull(): boolean {
    return false;
  }

  /** The process is gone: nobody reads its watches. */
  drop(): void {
    this.#forget();
    this.#watches.clear();
  }

  send(request: WireRequest): Promise<WireAnswer> {
    const { life, told } = this.#deps;
    const what = wordsOf(request);
    if (life.dead) return new Promise(() => undefined);
    if (request.signal?.aborted) {
      return Promise.reject(new TransportError(`${what}: stopped by the caller`));
    }
    if (request.fence !== undefined && !request.fence.mayWrite()) {
      return Promise.reject(new FencedError(`not the leader any more: ${what} was not sent`));
    }
    told(`> ${what}`);
    if (life.dead) return new Promise(() => undefined);
    return new Promise((resolve, reject) => this.#exchange(request, what, resolve, reject));
  }

  #exchange(
    request: WireRequest,
    what: string,
    resolve: (answer: WireAnswer) => void,
    reject: (error: Error) => void,
  ): void {
    const { time, life, dice, weather } = this.#deps;
    const { latencyMs, fates } = weather();
    const { signal } = request;
    const fence = request.fence?.signal();
    const end = (settle: () => void): void => {
      timeout.cancel();
      signal?.removeEventListener('abort', stopped);
      fence?.removeEventListener('abort', fenced);
      settle();
    };
    const fail = (error: Error): void => end(() => reject(error));
    const stopped = (): void => fail(new TransportError(`${what}: stopped by the caller`));
    const fenced = (): void => fail(new FencedError(`${what} was cut off under way`));
    const timedOut = (): void => fail(new TransportError(`${what}: no answer in time`));
    const timeout = time.after(request.timeoutMs, timedOut, life);
    signal?.addEventListener('abort', stopped, { once: true });
    fence?.addEventListener('abort', fenced, { once: true });
    const fate = dice.weighted(fates);
    const there = dice.longTail(latencyMs, 5_000);
    const back = dice.longTail(latencyMs, 5_000);
    const reset = (): void => {
      if (dice.chance(0.3)) return;
      fail(new ResetError(`${what}: connection reset`));
    };
    const carryOut = (then: (answer: Answer) => void): void => {
      const { verb, path, headers, body } = request;
      const answer = this.#answerOf({ verb, path, headers, body }, fate, dice);
      this.#deps.told(`= ${fate} ${answer.code} ${what}`);
      time.after(back, () => then(answer), life);
    };
    if (fate === 'lost') {
      time.after(there, reset, life);
      return;
    }
    if (fate === 'late') {
      time.after(there, reset, life);
      time.after(dice.between(0, LATE_MAX_MS), () => carryOut(() => undefined));
      return;
    }
    const answered = (answer: Answer): void => {
      if (fate === 'answer-lost') reset();
      else end(() => resolve(asWire(answer)));
    };
    // The server does its part also when the process has died meanwhile.
    time.after(there, () => carryOut(answered));
  }

  #answerOf(asked: Parameters<ModelServer['answer']>[0], fate: Fate, dice: Dice): Answer {
    const { server } = this.#deps;
    const wait = dice.whole(0, RETRY_AFTER_MAX_SECONDS);
    const changes = asked.verb === 'PUT' || asked.verb === 'PATCH';
    switch (fate) {
      case 'error-not-done':
        return refusal(new Refused(dice.pick([500, 503, 504]), 'InternalError', 'model trouble'));
      case 'error-not-done-retry':
        return refusal(new Refused(503, 'ServiceUnavailable', 'model trouble'), wait);
      case 'too-many':
        return refusal(new Refused(429, 'TooManyRequests', 'model is busy'), wait);
      case 'error-done':
        server.answer(asked, 'holdfast');
        return refusal(new Refused(dice.pick([500, 504]), 'Timeout', 'model trouble after all'));
      case 'error-done-retry':
        server.answer(asked, 'holdfast');
        return refusal(new Refused(504, 'ServerTimeout', 'model trouble after all'), wait);
      case 'conflict':
        if (changes) return refusal(new Refused(409, 'Conflict', 'the object has been modified'));
        return server.answer(asked, 'holdfast');
      default:
        return server.answer(asked, 'holdfast');
    }
  }

  async open(request: WireRequest): Promise<WireStream> {
    const { life, time, dice, weather, server, told } = this.#deps;
    const what = `WATCH ${request.path}`;
    if (life.dead) return await new Promise(() => undefined);
    const { watchRefused, latencyMs } = weather();
    told(`> ${what}`);
    const delay = dice.longTail(latencyMs, 5_000);
    const refused = dice.chance(watchRefused);
    await new Promise<void>((resolve) => time.after(delay, resolve, life));
    if (request.signal?.aborted) throw new TransportError(`${what}: stopped by the caller`);
    if (refused && dice.chance(0.5)) throw new ResetError(`${what}: connection refused`);
    const deps = { time, life, dice, weather, server };
    const watch = new ModelWatch(deps, request, refused, (one) => this.#watches.delete(one));
    if (!watch.over) this.#watches.add(watch);
    return watch;
  }
}

/** The request without its query; for a create, with the name in its body. */
function wordsOf({ verb, path, body }: WireRequest): string {
  const [bare = ''] = path.split('?');
  if (verb === 'GET') return `${verb} ${path}`;
  const name = verb === 'POST' ? /"name":"([^"]*)"/.exec(body ?? '')?.[1] : undefined;
  return `${verb} ${bare}${name === undefined ? '' : ` ${name}`}`;
}

function asWire({ code, text, retryAfter }: Answer): WireAnswer {
  const headers = new Headers();
  if (retryAfter !== undefined) headers.set('retry-after', String(retryAfter));
  return { code, text, headers, bytes: text.length };
}
