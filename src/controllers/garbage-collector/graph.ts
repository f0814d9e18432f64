/**
 * The graph of owners and dependents by UID. It is changed by what informers show and by what live
 * reads found absent, and says which nodes deserve a closer look. No I/O, no clock; each change
 * costs time for the node and its references, a removal also for its dependents.
 */
import { sameReference } from '../../api/owners.ts';
import type { OwnerReference } from '../../api/types/index.ts';
import { nextIdentity } from './alternatives.ts';
import { type Identity, identityOf, sameCoordinates, sameIdentity } from './identity.ts';
import { Node, type NodeRecord, partition, type Source } from './node.ts';

/** Who hears what the graph finds. */
export interface GraphSink {
  /** Look whether this node must be deleted, or can at last go. */
  tryDelete(node: Node): void;
  /** As `tryDelete`, but later each time. */
  tryDeleteLater(node: Node): void;
  /** Its dependents must lose their reference to it. */
  tryOrphan(node: Node): void;
  /** An owner that dependents refer to does not exist. */
  absent(owner: Identity): void;
  /** The dependent refers to an owner that lives in another namespace. */
  wrongNamespace(dependent: Node, ownerUid: string): void;
}

/** What the graph compares of an object's state before a change. */
export type Before = Pick<NodeRecord, 'deleting' | 'ties'> | undefined;

/** All nodes; the only writer of their links. */
export class Graph {
  readonly #sink: GraphSink;
  readonly #nodes = new Map<string, Node>();
  /** While many objects come at once: nodes that are not linked to their owners yet. */
  #unlinked: Node[] | undefined;

  constructor(sink: GraphSink) {
    this.#sink = sink;
  }

  get size(): number {
    return this.#nodes.size;
  }

  get(uid: string): Node | undefined {
    return this.#nodes.get(uid);
  }

  all(): IterableIterator<Node> {
    return this.#nodes.values();
  }

  /** Runs `fill`; owners and dependents it brings are linked together afterwards, in any order. */
  inBulk(fill: () => void): void {
    this.#unlinked = [];
    fill();
    const nodes = this.#unlinked;
    this.#unlinked = undefined;
    for (const node of nodes) {
      this.#linkTo(node, node.owners);
      this.#notice(node, undefined);
    }
  }

  /** An informer shows an object; `before` is its former state if the informer knew it. */
  observe(source: Source, record: NodeRecord, before: Before): void {
    const known = this.#nodes.get(record.uid);
    if (known === undefined) {
      const node = new Node(source, record, false);
      this.#nodes.set(record.uid, node);
      if (this.#unlinked !== undefined) {
        this.#unlinked.push(node);
        return;
      }
      this.#linkTo(node, node.owners);
      this.#notice(node, before);
      return;
    }
    if (known.virtual) this.#confirm(known, source, record);
    this.#change(known, source, record);
    this.#notice(known, before);
  }

  /** Nothing changed that the graph is made of; later reads shall see the newest record. */
  refresh(source: Source, record: NodeRecord): void {
    const node = this.#nodes.get(record.uid);
    if (node === undefined || node.virtual) this.observe(source, record, undefined);
    else node.record = record;
  }

  /** An informer shows that an object is gone. */
  remove(source: Source, record: NodeRecord): void {
    const node = this.#nodes.get(record.uid);
    if (node === undefined) return;
    if (node.virtual) this.#confirm(node, source, record);
    this.#drop(node, node.identity);
  }

  /**
   * A live read found nothing under this identity. An observed node of another identity stays; so
   * does a virtual one by which dependents mean something else, and that is tried next.
   */
  absent(identity: Identity): void {
    const node = this.#nodes.get(identity.uid);
    if (node === undefined) return;
    const isSame = sameIdentity(node.identity, identity);
    const { matching, others } = partition(node.dependents, identity);
    if (node.virtual ? others.length === 0 : isSame) {
      this.#drop(node, identity);
      return;
    }
    if (matching.length > 0) this.#sink.absent(identity);
    for (const dependent of matching) this.#sink.tryDelete(dependent);
    const next = node.virtual && isSame ? nextIdentity(others, identity) : undefined;
    if (next === undefined) return;
    node.source = next;
    node.record = recordOf(next);
    this.#sink.tryDeleteLater(node);
  }

  /**
   * Nobody watches the object any more, though nobody said that it is gone. It holds no owner back;
   * if others refer to it, it is only known from them.
   */
  lose(record: NodeRecord): void {
    const node = this.#nodes.get(record.uid);
    if (node === undefined || node.virtual) return;
    const { identity } = node;
    this.#unlinkFrom(node, node.owners);
    this.#queueWaiting(node.owners);
    if (node.dependents.size === 0) {
      this.#nodes.delete(node.uid);
      return;
    }
    node.virtual = true;
    node.source = { apiVersion: identity.apiVersion, kind: identity.kind };
    node.record = recordOf(identity);
    this.#sink.tryDelete(node);
  }

  /** The virtual node turns out to be this; dependents that meant something else are looked at. */
  #confirm(node: Node, source: Source, record: NodeRecord): void {
    const former = node.identity;
    const { apiVersion, kind } = source;
    const { namespace, name, uid } = record;
    const observed = { apiVersion, kind, namespace, name, uid };
    node.virtual = false;
    node.source = source;
    node.record = { ...record, ties: undefined };
    if (sameIdentity(former, observed)) return;
    for (const dependent of partition(node.dependents, observed).others) {
      const isElsewhere = namespace !== '' && dependent.namespace !== namespace;
      if (isElsewhere) this.#sink.wrongNamespace(dependent, uid);
      this.#sink.tryDelete(dependent);
    }
  }

  #change(node: Node, source: Source, record: NodeRecord): void {
    const former = node.owners;
    node.source = source;
    node.record = record;
    const { owners } = node;
    if (former === owners) return;
    const removed = former.filter(({ uid }) => !owners.some((owner) => owner.uid === uid));
    const added = owners.filter(({ uid }) => !former.some((owner) => owner.uid === uid));
    for (const reference of former) if (isUnblocked(reference, owners)) this.#queue(reference.uid);
    this.#linkTo(node, added);
    this.#unlinkFrom(node, removed);
  }

  #queue(uid: string): void {
    const node = this.#nodes.get(uid);
    if (node !== undefined) this.#sink.tryDelete(node);
  }

  /** Adds the node to its owners; one that is not there yet becomes a virtual node. */
  #linkTo(node: Node, owners: readonly OwnerReference[]): void {
    let isSuspect = false;
    for (const reference of owners) {
      const owner = this.#nodes.get(reference.uid);
      if (owner === undefined) {
        this.#imagine(reference, node);
        continue;
      }
      owner.addDependent(node);
      isSuspect ||= this.#disagrees(node, reference, owner);
    }
    if (isSuspect) this.#sink.tryDelete(node);
  }

  #imagine(reference: OwnerReference, dependent: Node): void {
    const identity = identityOf(reference, dependent.namespace);
    const owner = new Node(
      { apiVersion: identity.apiVersion, kind: identity.kind },
      recordOf(identity),
      true,
    );
    this.#nodes.set(owner.uid, owner);
    owner.addDependent(dependent);
    this.#sink.tryDelete(owner);
  }

  /** True if the reference may not mean this owner: then the dependent must be looked at. */
  #disagrees(dependent: Node, reference: OwnerReference, owner: Node): boolean {
    const isElsewhere = owner.namespace !== dependent.namespace;
    if (owner.namespace !== '' && isElsewhere) {
      if (!owner.virtual) this.#sink.wrongNamespace(dependent, owner.uid);
      return true;
    }
    if (!sameCoordinates(reference, owner.identity)) return true;
    // Taken for cluster-scoped because of a cluster-scoped dependent, which may be wrong.
    return isElsewhere && owner.virtual;
  }

  #unlinkFrom(node: Node, owners: readonly OwnerReference[]): void {
    for (const { uid } of owners) this.#nodes.get(uid)?.removeDependent(node);
  }

  /** A deletion begins whose finalizer asks for work, or the object is first seen like that. */
  #notice(node: Node, before: Before): void {
    const { deleting, ties } = node.record;
    if (!deleting || ties === undefined) return;
    if (ties.orphan) {
      if (!(before?.deleting && before.ties?.orphan)) {
        this.#sink.tryOrphan(node);
        return;
      }
    }
    if (!ties.foreground || (before?.deleting && before.ties?.foreground)) return;
    for (const dependent of node.dependents) this.#sink.tryDelete(dependent);
    this.#sink.tryDelete(node);
  }

  /** `gone` is what is known to be absent: of a virtual node that may be another identity. */
  #drop(node: Node, gone: Identity): void {
    this.#nodes.delete(node.uid);
    this.#unlinkFrom(node, node.owners);
    if (node.dependents.size > 0) this.#sink.absent(gone);
    for (const dependent of node.dependents) this.#sink.tryDelete(dependent);
    this.#queueWaiting(node.owners);
  }

  /** Owners that wait for their dependents may have waited for the last one. */
  #queueWaiting(owners: readonly OwnerReference[]): void {
    for (const { uid } of owners) {
      const owner = this.#nodes.get(uid);
      if (owner?.waitsForDependents) this.#sink.tryDelete(owner);
    }
  }
}

/** The reference blocked its owner's deletion and is gone, or blocks it no more. */
function isUnblocked(former: OwnerReference, owners: readonly OwnerReference[]): boolean {
  if (former.blockOwnerDeletion !== true) return false;
  const now = owners.filter(({ uid }) => uid === former.uid);
  if (now.some((reference) => sameReference(former, reference))) return false;
  return now.every(({ blockOwnerDeletion }) => blockOwnerDeletion !== true);
}

function recordOf({ namespace, name, uid }: Identity): NodeRecord {
  return { namespace, name, uid, resourceVersion: '', deleting: false };
}
