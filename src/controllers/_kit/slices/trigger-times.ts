/**
 * When the change happened that a sync is about to write, for the annotation that latency is
 * measured by. Follows upstream's TriggerTimeTracker: the creation of the Service at first sight,
 * afterwards the earliest change of readiness that was not there before. Upstream forgets at a
 * restart and takes every Service's creation again; here the latest change seen is remembered.
 */
import { timeMs, timeText } from '../../../api/time.ts';
import type { Service } from '../../../api/types/index.ts';
import type { ControllerContext, ControllerMemory } from '../../../runtime/controller.ts';
import type { PodRecord } from '../../../runtime/informer/types.ts';

/** Milliseconds since the epoch. */
type Times = ReadonlyMap<string, number>;

interface Seen {
  readonly serviceUid: string;
  /** Readiness changes by pod name. */
  readonly pods: Times;
}

/** What a sync found out: the time to write, if any, and what to keep once it has been written. */
export interface Trigger {
  readonly time: string | undefined;
  readonly pods: Times;
}

/** The trigger times of one controller's Services. */
export class TriggerTimes {
  readonly #seen = new Map<string, Seen>();
  /** The latest change that was seen, for the next process. */
  readonly #latest: ControllerMemory<number>;

  constructor(context: ControllerContext) {
    this.#latest = context.memory<number>('trigger-times', { encode: String, decode: readTime });
  }

  /** The trigger of what changed since the last `keep` of this Service. */
  look(key: string, service: Service, pods: readonly PodRecord[]): Trigger {
    const { uid, creationTimestamp } = service.metadata;
    const seen = this.#seen.get(key);
    const known = seen?.serviceUid === uid ? seen.pods : undefined;
    const before = known === undefined ? this.#latest.get(key, uid) : 0;
    const times = new Map<string, number>();
    let earliest = Number.POSITIVE_INFINITY;
    for (const { name, readySince } of pods) {
      if (readySince === 0) continue;
      times.set(name, readySince);
      const last = known?.get(name) ?? before ?? 0;
      if (readySince > last && readySince < earliest) earliest = readySince;
    }
    const ms = before === undefined ? timeMs(creationTimestamp) : earliest;
    const time = ms > 0 && Number.isFinite(ms) ? timeText(ms) : undefined;
    return { time, pods: times };
  }

  /** The sync has ended well: what it saw is no change any more. */
  keep(key: string, service: Service, { pods }: Trigger): void {
    const { uid } = service.metadata;
    this.#seen.set(key, { serviceUid: uid, pods });
    let latest = timeMs(service.metadata.creationTimestamp);
    for (const ms of pods.values()) latest = Math.max(latest, ms);
    if (this.#latest.get(key, uid) !== latest) this.#latest.set(key, uid, latest);
  }

  /** The Service is gone. */
  forget(key: string): void {
    this.#seen.delete(key);
    this.#latest.delete(key);
  }
}

function readTime(text: string): number {
  const ms = Number(text);
  if (!Number.isSafeInteger(ms)) throw new Error(`not a time in milliseconds: ${text}`);
  return ms;
}
