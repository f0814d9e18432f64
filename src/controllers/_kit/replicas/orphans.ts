/** Which ReplicaSets would like to adopt an orphan pod. */
import { compileSelector, type Selector } from '../../../api/selector.ts';
import type { KubeObject } from '../../../api/types/index.ts';
import type { Lister, ObjectRecord, PodRecord } from '../../../runtime/informer/types.ts';
import { REPLICA_SELECTORS_MAX } from '../../../runtime/limits.ts';
import type { ReplicaKind } from './kind.ts';

/** Finds ReplicaSets by the labels of a pod, keeping their compiled selectors. */
export class Adopters<T extends KubeObject> {
  readonly #kind: ReplicaKind<T>;
  readonly #owners: Lister<T>;
  readonly #selectors = new Map<
    string,
    { readonly version: string; readonly selector: Selector }
  >();

  constructor(kind: ReplicaKind<T>, owners: Lister<T>) {
    this.#kind = kind;
    this.#owners = owners;
  }

  /**
   * Keys of the ReplicaSets in the pod's namespace whose selector matches it. An empty or invalid
   * selector matches no pod here, and a pod without labels matches no selector.
   */
  of(pod: PodRecord): readonly string[] {
    if (Object.keys(pod.labels).length === 0) return [];
    const owners = this.#owners.list(pod.namespace).filter((owner) => this.#wants(owner, pod));
    return owners.map(({ key }) => key);
  }

  /** The ReplicaSet is gone: its selector is forgotten. */
  forget(key: string): void {
    this.#selectors.delete(key);
  }

  #wants(owner: ObjectRecord, pod: PodRecord): boolean {
    try {
      const selector = this.#selector(owner);
      return selector !== undefined && !selector.empty && selector.matches(pod.labels);
    } catch {
      // Its stored object is lost: its own sync fetches it and looks for orphans then.
      return true;
    }
  }

  #selector({ key, uid, resourceVersion }: ObjectRecord): Selector | undefined {
    const version = `${uid}/${resourceVersion}`;
    const known = this.#selectors.get(key);
    if (known?.version === version) return known.selector;
    const object = this.#owners.get(key);
    const selector = object && compileSelector(this.#kind.view(object).spec?.selector).selector;
    if (selector === undefined) return undefined;
    if (this.#selectors.size >= REPLICA_SELECTORS_MAX) this.#selectors.clear();
    this.#selectors.set(key, { version, selector });
    return selector;
  }
}
