/**
 * Nodes that were lost and whose pods are not all marked yet; remembered, so that a process that
 * dies between the two leaves no pod that seems ready on a node that is not heard of.
 */
import type { ControllerContext, ControllerMemory } from '../../runtime/controller.ts';
import type { NodeName } from './events.ts';

const FACT = { encode: () => 'true', decode: () => true };

/** Whose pods have to be looked at again. Losing it gives upstream's behaviour: nobody does. */
export class UnmarkedNodes {
  readonly #memory: ControllerMemory<boolean>;
  /** UIDs by name; of nodes that were only announced the next process is to know, not this one. */
  readonly #due = new Map<string, string>();

  constructor(context: Pick<ControllerContext, 'memory'>) {
    this.#memory = context.memory('unmarked', FACT);
    for (const { key, subjectUid } of this.#memory.all()) this.#due.set(key, subjectUid);
  }

  /** The node is about to be called lost: should this process die, the next one marks its pods. */
  announce({ name, uid }: NodeName): void {
    this.#memory.set(name, uid, true);
  }

  /** Some pods could not be marked. */
  add({ name, uid }: NodeName): void {
    this.#due.set(name, uid);
    this.#memory.set(name, uid, true);
  }

  /** True if pods of this very node were left unmarked. */
  has({ name, uid }: NodeName): boolean {
    return this.#due.get(name) === uid;
  }

  /** Nothing is left to be done. */
  delete(name: string): void {
    this.#due.delete(name);
    this.#memory.delete(name);
  }
}
