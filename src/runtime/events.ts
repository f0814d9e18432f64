/**
 * Events as upstream's recorder writes them: in order, one at a time, never in the way of the
 * controller that reports them.
 */
import {
  ApiError,
  FencedError,
  isAlreadyExists,
  isNamespaceTerminating,
  TransportError,
} from '../api/errors.ts';
import { EVENTS } from '../api/resource.ts';
import { timeText } from '../api/time.ts';
import type { ObjectReference } from '../api/types/index.ts';
import type { KubeClient } from '../kube/types.ts';
import type { Clock } from './clock.ts';
import type { EventRecorder } from './controller.ts';
import {
  type Correlation,
  correlate,
  createCorrelation,
  type EventDraft,
  type RememberedEvents,
  rememberCorrelation,
} from './event-correlation.ts';
import { EVENT_QUEUE_MAX, EVENT_RETRY_MS, EVENT_TRIES_MAX } from './limits.ts';
import type { LogFields, Logger } from './log.ts';
import type { Random } from './random.ts';

export interface EventRecorderOptions {
  /** source.component and reportingComponent. */
  readonly component: string;
  readonly client: Pick<KubeClient, 'create' | 'patch'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Ends sending; what is queued then is lost. */
  readonly signal: AbortSignal;
  /** -v from which each event is logged as well. Default 3, as in upstream's controllers. */
  readonly logLevel?: number;
  /** What `remember` gave in an earlier process. */
  readonly remembered?: RememberedEvents;
}

/** A recorder as the framework handles it. */
export interface EventPipeline extends EventRecorder {
  /** Events not sent yet. */
  pending(): number;
  /** Resolves when nothing is left to send, or sending has ended. */
  settled(): Promise<void>;
  /** What was counted so far, so that the next process patches the same events. */
  remember(): RememberedEvents;
}

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const OBJECT_NAME_LENGTH = 253;
const NAMESPACE_OF_CLUSTER_OBJECTS = 'default';
const NANOSECONDS_PER_MS = 1_000_000;
const LOG_LEVEL = 3;
const LOG_LEVEL_REJECTED = 5;

function eventBody(event: EventDraft): object {
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: event.name, namespace: event.namespace },
    involvedObject: event.about,
    reason: event.reason,
    message: event.message,
    source: { component: event.component },
    firstTimestamp: timeText(event.firstAt),
    lastTimestamp: timeText(event.lastAt),
    count: event.count,
    type: event.type,
    reportingComponent: event.reported ? event.component : '',
    reportingInstance: '',
  };
}

function eventPatch(event: EventDraft): object {
  const { count, message } = event;
  return { count, lastTimestamp: timeText(event.lastAt), message };
}

function logFields({ about, type, reason, message }: EventDraft): LogFields {
  const { namespace = '', name = '', fieldPath = '', kind, apiVersion } = about;
  const object = namespace === '' ? name : `${namespace}/${name}`;
  return { object, fieldPath, kind, apiVersion, type, reason, message };
}

class Recorder implements EventPipeline {
  readonly #options: EventRecorderOptions;
  readonly #correlation: Correlation;
  readonly #queue: EventDraft[] = [];
  #sending: Promise<void> | undefined;
  #dropped = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#correlation = createCorrelation(options.clock.monotonic(), options.remembered);
  }

  event(about: ObjectReference, type: 'Normal' | 'Warning', reason: string, message: string): void {
    const { clock, component, log, logLevel = LOG_LEVEL, signal } = this.#options;
    const now = clock.now();
    const event: EventDraft = {
      namespace: about.namespace || NAMESPACE_OF_CLUSTER_OBJECTS,
      name: this.#nameFor(about.name ?? '', now),
      about,
      component,
      reported: true,
      type,
      reason,
      message,
      firstAt: now,
      lastAt: now,
      count: 1,
    };
    if (log.enabled(logLevel)) log.v(logLevel).info('Event occurred', logFields(event));
    if (signal.aborted) return;
    if (this.#queue.length >= EVENT_QUEUE_MAX) {
      this.#drop(event);
      return;
    }
    this.#queue.push(event);
    this.#sending ??= this.#sendAll();
  }

  pending(): number {
    return this.#queue.length + (this.#sending === undefined ? 0 : 1);
  }

  async settled(): Promise<void> {
    await this.#sending;
  }

  remember(): RememberedEvents {
    return rememberCorrelation(this.#correlation, this.#options.clock.monotonic());
  }

  /** `<object>.<hex nanoseconds>`; where that is no name, a UUID. */
  #nameFor(objectName: string, wallMs: number): string {
    const { random } = this.#options;
    // The wall clock ends at milliseconds; below them any digits do, as long as they differ.
    const below = BigInt(Math.floor(random.next() * NANOSECONDS_PER_MS));
    const nanoseconds = BigInt(Math.floor(wallMs)) * BigInt(NANOSECONDS_PER_MS) + below;
    const name = `${objectName}.${nanoseconds.toString(16)}`;
    return name.length <= OBJECT_NAME_LENGTH && SUBDOMAIN.test(name) ? name : random.uuid();
  }

  #drop(event: EventDraft): void {
    this.#dropped++;
    if (this.#dropped > 1) return;
    const message = 'Unable to record event: too many queued events, dropped event';
    this.#options.log.error(message, undefined, logFields(event));
  }

  async #sendAll(): Promise<void> {
    const { log, signal } = this.#options;
    // Events that are reported together are queued before the first one goes.
    await Promise.resolve();
    for (let event = this.#queue.shift(); event !== undefined; event = this.#queue.shift()) {
      await this.#deliver(event);
      if (this.#dropped > 1) log.warning('More events were dropped', { count: this.#dropped - 1 });
      this.#dropped = 0;
      if (signal.aborted) break;
    }
    const lost = this.#queue.splice(0).length;
    if (lost > 0) log.warning('Events were lost because sending has ended', { count: lost });
    this.#sending = undefined;
  }

  async #deliver(reported: EventDraft): Promise<void> {
    const { clock, log, random, signal } = this.#options;
    const moment = { wallMs: clock.now(), monotonicMs: clock.monotonic(), draw: random.next() };
    const event = correlate(this.#correlation, reported, moment);
    if (event === undefined) return;
    for (let tries = 1; ; tries++) {
      if (await this.#send(event)) return;
      if (tries >= EVENT_TRIES_MAX) {
        log.error('Unable to write event (retry limit exceeded!)', undefined, logFields(event));
        return;
      }
      // The first wait is random, so that many clients don't come back at the same moment.
      await clock.sleep(tries === 1 ? EVENT_RETRY_MS * random.next() : EVENT_RETRY_MS, signal);
      if (signal.aborted) {
        const message = 'Unable to write event (broadcaster is shut down)';
        log.error(message, undefined, logFields(event));
        return;
      }
    }
  }

  /** False if there was no answer and it is worth another try. */
  async #send(event: EventDraft): Promise<boolean> {
    const { log } = this.#options;
    try {
      await this.#write(event);
      return true;
    } catch (error) {
      if (error instanceof TransportError) {
        const message = 'Unable to write event (may retry after sleeping)';
        log.error(message, error, logFields(event));
        return false;
      }
      const message = 'Server rejected event (will not retry!)';
      const expected = isAlreadyExists(error) || isNamespaceTerminating(error);
      if (expected || error instanceof FencedError) {
        log.v(LOG_LEVEL_REJECTED).info(message, { ...logFields(event), err: error });
      } else log.error(message, error, logFields(event));
      return true;
    }
  }

  async #write(event: EventDraft): Promise<void> {
    const { client, signal } = this.#options;
    const { namespace, name } = event;
    const options = { signal, metadataOnly: true };
    if (event.count > 1) {
      try {
        await client.patch(EVENTS, { namespace, name }, 'strategic', eventPatch(event), options);
        return;
      } catch (error) {
        if (!(error instanceof ApiError && error.code === 404)) throw error;
        // The stored event has expired: it is written anew, with its whole count.
      }
    }
    await client.create(EVENTS, { namespace }, eventBody(event), options);
  }
}

/** The recorder of one component. Events about one object come out in the order of reporting. */
export function createEventRecorder(options: EventRecorderOptions): EventPipeline {
  return new Recorder(options);
}
