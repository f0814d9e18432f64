/** Recorders whose counts survive the process: the next one goes on patching the same events. */
import type { Clock } from './clock.ts';
import type { EventRecorder } from './controller.ts';
import type { RememberedEvents } from './event-correlation.ts';
import { createEventRecorder, type EventPipeline, type EventRecorderOptions } from './events.ts';
import { EVENT_MEMORY_INTERVAL_MS } from './limits.ts';
import { createMemory, type Memory } from './memory.ts';
import type { MemoryRow, RowTable } from './ports.ts';
import type { OwnTerms } from './term.ts';

export interface EventMemoryOptions extends OwnTerms {
  readonly controller: string;
  readonly store: RowTable<MemoryRow>;
  readonly clock: Clock;
}

interface Kept {
  readonly component: string;
  readonly pipeline: EventPipeline;
  changed: boolean;
}

/** Makes the recorders of one controller and remembers what they counted. */
export class EventMemory {
  readonly #options: EventMemoryOptions;
  readonly #memory: Memory<RememberedEvents>;
  readonly #kept: Kept[] = [];
  #savedAt = 0;
  #changed = false;

  constructor(options: EventMemoryOptions) {
    this.#options = options;
    this.#memory = createMemory<RememberedEvents>({
      ...options,
      controller: `${options.controller}/events`,
      encode: (value) => JSON.stringify(value),
      decode: (text) => JSON.parse(text) as RememberedEvents,
    });
    this.#memory.restore();
  }

  /** A recorder that goes on where the last process's one of this component stopped. */
  recorder(options: Omit<EventRecorderOptions, 'remembered'>): EventRecorder {
    const { component } = options;
    const remembered = this.#memory.get(component, component);
    const pipeline = createEventRecorder({
      ...options,
      ...(remembered === undefined ? {} : { remembered }),
    });
    const kept: Kept = { component, pipeline, changed: false };
    this.#kept.push(kept);
    return {
      event: (about, type, reason, message) => {
        kept.changed = true;
        this.#changed = true;
        pipeline.event(about, type, reason, message);
      },
    };
  }

  /** Puts what changed into the store, at most every EVENT_MEMORY_INTERVAL_MS unless `now`. */
  save(now = false): void {
    if (!this.#changed) return;
    const at = this.#options.clock.monotonic();
    if (!now && at - this.#savedAt < EVENT_MEMORY_INTERVAL_MS) return;
    this.#changed = false;
    this.#savedAt = at;
    for (const kept of this.#kept) {
      if (!kept.changed) continue;
      kept.changed = false;
      this.#memory.set(kept.component, kept.component, kept.pipeline.remember());
    }
  }

  /** Resolves when every event was sent or given up. */
  async settled(): Promise<void> {
    await Promise.all(this.#kept.map(({ pipeline }) => pipeline.settled()));
  }
}
