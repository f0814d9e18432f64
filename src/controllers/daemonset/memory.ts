/** Failed pods, remembered by node: after a restart a kubelet that refuses them is not hammered. */
import type { DaemonSet } from '../../api/types/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ControllerContext, ControllerMemory } from '../../runtime/controller.ts';
import { backoffKey, type FailedPod, FORGOTTEN_AFTER_MS } from './backoff.ts';

interface Failure {
  readonly backoffMs: number;
  /** Monotonic time from which its wait counts. */
  readonly since: number;
}

/** What was remembered in a former process waits as long again: the time between wasn't watched. */
function decoded(text: string, since: number): Failure {
  const backoffMs = Number(text);
  if (!(backoffMs > 0)) throw new Error(`"${text}" is no number of milliseconds`);
  return { backoffMs, since };
}

/** The last failures by set, generation and node; forgotten 30 minutes after the last one. */
export class FailedPods {
  readonly #clock: Clock;
  readonly #memory: ControllerMemory<Failure>;

  constructor({ clock, memory }: Pick<ControllerContext, 'clock' | 'memory'>) {
    this.#clock = clock;
    const startedAt = clock.monotonic();
    this.#memory = memory<Failure>('failed-pods', {
      encode: ({ backoffMs }) => String(backoffMs),
      decode: (text) => decoded(text, startedAt),
    });
  }

  /** What is remembered of failed pods of this set on a node. */
  of(set: DaemonSet, node: string): FailedPod | undefined {
    const failure = this.#memory.get(backoffKey(set, node), set.metadata.uid);
    if (failure === undefined) return undefined;
    const { backoffMs, since } = failure;
    return { backoffMs, elapsedMs: this.#clock.monotonic() - since };
  }

  /** A failed pod is deleted now; the next one has to wait `backoffMs`. */
  note(set: DaemonSet, node: string, backoffMs: number): void {
    const failure = { backoffMs, since: this.#clock.monotonic() };
    const options = { expiresInMs: FORGOTTEN_AFTER_MS };
    this.#memory.set(backoffKey(set, node), set.metadata.uid, failure, options);
  }
}
