/** One watch of the model API server: late, cut, refused or ended as the weather wants. */
import { TransportError } from '../../src/api/errors.ts';
import type { WireRequest, WireStream } from '../../src/kube/transport.ts';
import type { Timer } from '../../src/runtime/clock.ts';
import { type Change, Refused } from './api-model.ts';
import type { Dice } from './dice.ts';
import { type ModelServer, metadataOf, refusal, wantsMetadata, watchOf } from './server.ts';
import type { Life, Timeline } from './timeline.ts';
import type { Weather } from './weather.ts';

export interface WatchDeps {
  readonly time: Timeline;
  readonly server: ModelServer;
  readonly life: Life;
  readonly dice: Dice;
  weather(): Weather;
}

const encoder = new TextEncoder();
const BOOKMARK_EVERY_MS = 60_000;
const BOOKMARK_BEFORE_END_MS = 2_000;

interface Waiting {
  resolve(bytes: Uint8Array | undefined): void;
  reject(error: Error): void;
}

export class ModelWatch implements WireStream {
  readonly code: number;
  readonly headers = new Headers();
  readonly #deps: WatchDeps;
  readonly #id: string;
  readonly #metadataOnly: boolean;
  readonly #ended: (watch: ModelWatch) => void;
  readonly #timers: Timer[] = [];
  readonly #pending: Uint8Array[] = [];
  #waiting: Waiting | undefined;
  /** The version up to which everything was put into `#pending`. */
  #sent: number;
  #next: Timer | undefined;
  #tick: Timer | undefined;
  /** What reading gives once nothing is pending. */
  #end: 'clean' | Error | undefined;

  constructor(
    deps: WatchDeps,
    request: WireRequest,
    refused: boolean,
    ended: (watch: ModelWatch) => void,
  ) {
    this.#deps = deps;
    this.#ended = ended;
    this.#metadataOnly = wantsMetadata(request);
    const watch = watchOf(request.path);
    this.#id = watch?.id ?? '';
    const query = watch?.query ?? new URLSearchParams();
    const { server } = deps;
    this.#sent = Number(query.get('resourceVersion') ?? server.api.version);
    this.code = watch === undefined ? 404 : 200;
    request.signal?.addEventListener(
      'abort',
      () => this.#finish(new TransportError('stopped by the caller')),
      { once: true },
    );
    if (watch === undefined) this.#refuse(new Refused(404, 'NotFound', request.path));
    else if (refused) {
      this.code = deps.dice.pick([429, 500, 503]);
      this.#refuse(new Refused(this.code, 'ServiceUnavailable', 'model trouble'));
    } else if (query.get('sendInitialEvents') === 'true') this.#probe();
    else if (this.#sent < server.api.oldest) this.#tooOld();
    else this.#follow(Number(query.get('timeoutSeconds') ?? 300) * 1e3);
  }

  /** Nothing more will come. */
  get over(): boolean {
    return this.#end !== undefined;
  }

  /** The server stored something. */
  changed(change: Change): void {
    if (change.resource === this.#id && this.#end === undefined) this.#plan();
  }

  read(silenceMs: number): Promise<Uint8Array | undefined> {
    const first = this.#pending.shift();
    if (first !== undefined) return Promise.resolve(first);
    if (this.#end === 'clean') return Promise.resolve(undefined);
    if (this.#end !== undefined) return Promise.reject(this.#end);
    const { time, life } = this.#deps;
    return new Promise((resolve, reject) => {
      const silent = time.after(
        silenceMs,
        () => this.#finish(new TransportError('no sign of life')),
        life,
      );
      this.#waiting = {
        resolve: (bytes) => {
          silent.cancel();
          resolve(bytes);
        },
        reject: (error) => {
          silent.cancel();
          reject(error);
        },
      };
    });
  }

  close(): void {
    this.#finish(new TransportError('the stream was closed'));
  }

  #refuse(why: Refused): void {
    this.#put(encoder.encode(refusal(why).text));
    this.#finish('clean');
  }

  #tooOld(): void {
    const { text } = refusal(new Refused(410, 'Expired', 'too old resource version'));
    this.#put(encoder.encode(`{"type":"ERROR","object":${text}}\n`));
    this.#finish('clean');
  }

  #probe(): void {
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    this.#bookmark({ annotations });
    this.#finish('clean');
  }

  #follow(timeoutMs: number): void {
    const { time, life, dice, weather } = this.#deps;
    const { watchLivesMs } = weather();
    const end = (): void => {
      if (this.#next !== undefined) this.#deliver();
      this.#finish('clean');
    };
    const mark = (): void => this.#bookmarkIfNewer();
    this.#timers.push(time.after(timeoutMs, end, life));
    this.#timers.push(time.after(timeoutMs - BOOKMARK_BEFORE_END_MS, mark, life));
    if (Number.isFinite(watchLivesMs)) {
      const cut = (): void => this.#cut();
      this.#timers.push(time.after(dice.longTail(watchLivesMs, 10 * watchLivesMs), cut, life));
    }
    this.#everyMinute();
    this.#plan();
  }

  #everyMinute(): void {
    const { time, life } = this.#deps;
    const tick = (): void => {
      this.#bookmarkIfNewer();
      this.#everyMinute();
    };
    if (this.#end === undefined) this.#tick = time.after(BOOKMARK_EVERY_MS, tick, life);
  }

  /** Cut at any byte: between events, or in the middle of one with what looks like a clean end. */
  #cut(): void {
    const { dice, server } = this.#deps;
    const next = server.api.history(this.#id).find(({ version }) => version > this.#sent);
    if (next !== undefined && dice.chance(0.5)) {
      const line = this.#lineOf(next);
      this.#put(line.slice(0, dice.whole(1, line.length - 1)));
      this.#finish('clean');
      return;
    }
    this.#finish(dice.chance(0.5) ? 'clean' : new TransportError('connection reset'));
  }

  /** What is new is sent together, some time later. */
  #plan(): void {
    if (this.#next !== undefined) return;
    const { time, life, dice, weather } = this.#deps;
    const { lagMs, lagMaxMs } = weather();
    this.#next = time.after(dice.longTail(lagMs, lagMaxMs), () => this.#deliver(), life);
  }

  #deliver(): void {
    this.#next?.cancel();
    this.#next = undefined;
    if (this.#end !== undefined) return;
    const { api } = this.#deps.server;
    if (this.#sent < api.oldest) {
      this.#tooOld();
      return;
    }
    const history = api.history(this.#id);
    let from = history.length;
    while (from > 0 && history[from - 1]!.version > this.#sent) from--;
    const news = history.slice(from);
    if (news.length === 0) return;
    this.#sent = news.at(-1)!.version;
    this.#put(Buffer.concat(news.map((change) => this.#lineOf(change))));
  }

  #bookmarkIfNewer(): void {
    const { api } = this.#deps.server;
    if (this.#end !== undefined || api.version <= this.#sent) return;
    // What it has not sent may be gone: to say that nothing is missing would be a lie.
    if (this.#sent < api.oldest) {
      this.#tooOld();
      return;
    }
    const last = api.history(this.#id).at(-1);
    if (last !== undefined && last.version > this.#sent) return;
    this.#sent = api.version;
    this.#bookmark({});
  }

  #bookmark(extra: object): void {
    const metadata = { resourceVersion: String(this.#deps.server.api.version), ...extra };
    const line = JSON.stringify({ type: 'BOOKMARK', object: { metadata } });
    this.#put(encoder.encode(`${line}\n`));
  }

  #lineOf(change: Change): Uint8Array {
    const known = this.#metadataOnly ? change.metadataLine : change.line;
    if (known !== undefined) return known;
    const object = this.#metadataOnly ? metadataOf(change.object) : change.object;
    const line = encoder.encode(`${JSON.stringify({ type: change.type, object })}\n`);
    if (this.#metadataOnly) change.metadataLine = line;
    else change.line = line;
    return line;
  }

  #put(bytes: Uint8Array): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#pending.push(bytes);
    else waiting.resolve(bytes);
  }

  #finish(end: 'clean' | Error): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    for (const timer of this.#timers) timer.cancel();
    this.#next?.cancel();
    this.#tick?.cancel();
    this.#ended(this);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) return;
    if (end === 'clean') waiting.resolve(undefined);
    else waiting.reject(end);
  }
}
