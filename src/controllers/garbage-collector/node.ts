/** One object in the graph of owners and dependents. */
import type { OwnerReference } from '../../api/types/index.ts';
import type { ServedResource } from '../../runtime/controller.ts';
import type { Ties } from '../../runtime/informer/types.ts';
import { type Coordinates, type Identity, sameCoordinates } from './identity.ts';

/** What kind of object it is; all nodes of an informer share one. */
export interface Source {
  readonly apiVersion: string;
  readonly kind: string;
  /** Absent as long as only references speak of the object. */
  readonly resource?: ServedResource;
}

/** What the graph reads of a cached object's record. */
export interface NodeRecord {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly deleting: boolean;
  readonly ties?: Ties;
}

const NO_OWNERS: readonly OwnerReference[] = [];
const NO_NODES: ReadonlySet<Node> = new Set();

/** A node refers to the record that its informer holds anyway, so it is small itself. */
export class Node {
  source: Source;
  record: NodeRecord;
  /** No informer has shown it: it is only known from references, which may be wrong. */
  virtual: boolean;
  #dependents: Set<Node> | undefined;

  constructor(source: Source, record: NodeRecord, virtual: boolean) {
    this.source = source;
    this.record = record;
    this.virtual = virtual;
  }

  get uid(): string {
    return this.record.uid;
  }

  get namespace(): string {
    return this.record.namespace;
  }

  get identity(): Identity {
    const { apiVersion, kind } = this.source;
    const { namespace, name, uid } = this.record;
    return { apiVersion, kind, namespace, name, uid };
  }

  get owners(): readonly OwnerReference[] {
    return this.record.ties?.owners ?? NO_OWNERS;
  }

  get dependents(): ReadonlySet<Node> {
    return this.#dependents ?? NO_NODES;
  }

  /** deletionTimestamp is set. */
  get deleting(): boolean {
    return this.record.deleting;
  }

  /** Being deleted in the foreground: it goes after its blocking dependents. */
  get waitsForDependents(): boolean {
    return this.record.deleting && this.record.ties?.foreground === true;
  }

  addDependent(dependent: Node): void {
    this.#dependents ??= new Set();
    this.#dependents.add(dependent);
  }

  removeDependent(dependent: Node): void {
    this.#dependents?.delete(dependent);
    if (this.#dependents?.size === 0) this.#dependents = undefined;
  }

  /** True if one of its references says that `owner` must not go before it. */
  blocks(owner: Node): boolean {
    return this.owners.some(
      (reference) => reference.uid === owner.uid && reference.blockOwnerDeletion === true,
    );
  }
}

/** Dependents whose references to this identity agree with it, and those that speak of another. */
export interface Partition {
  readonly matching: readonly Node[];
  /** One with several references to the UID can be in both. */
  readonly others: readonly Node[];
}

/** Splits dependents by what they say about the owner's identity. */
export function partition(dependents: Iterable<Node>, owner: Identity): Partition {
  const matching: Node[] = [];
  const others: Node[] = [];
  for (const dependent of dependents) {
    const elsewhere = owner.namespace !== '' && owner.namespace !== dependent.namespace;
    const references = dependent.owners.filter(({ uid }) => uid === owner.uid);
    const agrees = (reference: Coordinates): boolean => sameCoordinates(reference, owner);
    if (!elsewhere && references.some(agrees)) matching.push(dependent);
    if (elsewhere || !references.every(agrees)) others.push(dependent);
  }
  return { matching, others };
}
