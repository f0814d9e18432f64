/** Nodes that were seen before, so that those that come and go can be told; remembered. */
import type { ControllerContext, ControllerMemory } from '../../runtime/controller.ts';
import type { NodeName } from './events.ts';

const FACT = { encode: () => 'true', decode: () => true };

/** What came and went since the last look. */
export interface Arrivals<N> {
  readonly added: readonly N[];
  readonly removed: readonly NodeName[];
}

/** The nodes of the last look, by name. */
export class KnownNodes {
  readonly #memory: ControllerMemory<boolean>;
  readonly #uids = new Map<string, string>();

  constructor(context: Pick<ControllerContext, 'memory'>) {
    this.#memory = context.memory('nodes', FACT);
    for (const { key, subjectUid } of this.#memory.all()) this.#uids.set(key, subjectUid);
  }

  /** Compares the nodes there are with those known. One that replaced a namesake is as known. */
  compare<N extends NodeName>(nodes: readonly N[]): Arrivals<N> {
    const names = new Set(nodes.map(({ name }) => name));
    const removed = [...this.#uids]
      .filter(([name]) => !names.has(name))
      .map(([name, uid]) => ({ name, uid }));
    return { added: nodes.filter(({ name }) => !this.#uids.has(name)), removed };
  }

  /** UIDs of all that are known. */
  uids(): string[] {
    return [...this.#uids.values()];
  }

  add({ name, uid }: NodeName): void {
    this.#uids.set(name, uid);
    this.#memory.set(name, uid, true);
  }

  remove(name: string): void {
    this.#uids.delete(name);
    this.#memory.delete(name);
  }
}
