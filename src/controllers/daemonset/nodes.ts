/** The nodes as DaemonSets see them, kept small in memory, and what of them changes. */
import { sameMap } from '../../api/meta.ts';
import { sameTaints } from '../../api/taint.ts';
import type { Node } from '../../api/types/index.ts';
import type { Handler, Lister, ObjectRecord } from '../../runtime/informer/types.ts';
import type { NodeFacts } from './placement.ts';

/** Names, labels and taints of all nodes; the informer's handler keeps it up to date. */
export class NodeBook {
  readonly #nodes: Lister<Node>;
  readonly #facts = new Map<string, NodeFacts>();
  /** Nodes whose stored object was lost when they changed. */
  readonly #lost = new Set<string>();

  constructor(nodes: Lister<Node>) {
    this.#nodes = nodes;
  }

  /** Keeps the book; `changed` hears of new nodes, and of changed labels or taints. */
  handler(changed: (name: string) => void): Handler<ObjectRecord> {
    return {
      add: ({ name }, initial) => {
        this.#read(name);
        // At the start every DaemonSet is queued anyway.
        if (!initial) changed(name);
      },
      update: ({ name }) => {
        if (this.#read(name)) changed(name);
      },
      delete: ({ name }) => {
        this.#facts.delete(name);
        this.#lost.delete(name);
      },
    };
  }

  /** All nodes. Throws if the disk lost one; the worker fetches it then. */
  all(): readonly NodeFacts[] {
    for (const name of this.#lost) this.#note(name, this.#nodes.get(name));
    return [...this.#facts.values()];
  }

  /** One node, undefined if it is gone. Throws if the disk lost it. */
  get(name: string): NodeFacts | undefined {
    if (this.#lost.has(name)) this.#note(name, this.#nodes.get(name));
    return this.#facts.get(name);
  }

  /** Reads a node again; true if it differs, or if that can't be told. */
  #read(name: string): boolean {
    const before = this.#facts.get(name);
    try {
      this.#note(name, this.#nodes.get(name));
    } catch {
      this.#lost.add(name);
      return true;
    }
    const after = this.#facts.get(name);
    if (before === undefined || after === undefined) return true;
    return !sameMap(before.labels, after.labels) || !sameTaints(before.taints, after.taints);
  }

  #note(name: string, node: Node | undefined): void {
    this.#lost.delete(name);
    if (node === undefined) {
      this.#facts.delete(name);
      return;
    }
    const labels = node.metadata.labels ?? {};
    this.#facts.set(name, { name, labels, taints: node.spec?.taints ?? [] });
  }
}
