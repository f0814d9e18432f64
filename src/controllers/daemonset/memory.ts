/** Failed pods, remembered by node: after a restart a kubelet that refuses them is not hammered. */
import type { DaemonSet } from '../../api/types/index.ts';
import type { ControllerContext, ControllerMemory } from '../../runtime/controller.ts';
import { COUNTDOWN_TEXT, type Countdown } from '../../runtime/countdown.ts';
import { backoffKey, type FailedPod, FORGOTTEN_AFTER_MS } from './backoff.ts';

interface Failure {
  readonly backoffMs: number;
  /** From when its wait counts. */
  readonly since: Countdown;
}

function encode({ backoffMs, since }: Failure): string {
  return `${backoffMs} ${COUNTDOWN_TEXT.encode(since)}`;
}

function decode(text: string): Failure {
  const [, wait = '', since = ''] = /^(\d+) (.*)$/.exec(text) ?? [];
  const backoffMs = Number(wait);
  if (!(backoffMs > 0)) throw new Error(`"${text}" begins with no number of milliseconds`);
  return { backoffMs, since: COUNTDOWN_TEXT.decode(since) };
}

/** The last failures by set, generation and node; forgotten 30 minutes after the last one. */
export class FailedPods {
  readonly #countdowns: ControllerContext['countdowns'];
  readonly #memory: ControllerMemory<Failure>;

  constructor({ countdowns, memory }: Pick<ControllerContext, 'countdowns' | 'memory'>) {
    this.#countdowns = countdowns;
    this.#memory = memory<Failure>('failed-pods', { encode, decode });
  }

  /** What is remembered of failed pods of this set on a node. */
  of(set: DaemonSet, node: string): FailedPod | undefined {
    const failure = this.#memory.get(backoffKey(set, node), set.metadata.uid);
    if (failure === undefined) return undefined;
    const { backoffMs, since } = failure;
    return { backoffMs, elapsedMs: this.#countdowns.elapsed(since) };
  }

  /** A failed pod is deleted now; the next one has to wait `backoffMs`. */
  note(set: DaemonSet, node: string, backoffMs: number): void {
    const failure = { backoffMs, since: this.#countdowns.start() };
    const options = { expiresInMs: FORGOTTEN_AFTER_MS };
    this.#memory.set(backoffKey(set, node), set.metadata.uid, failure, options);
  }
}
