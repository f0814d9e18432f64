/** From informer events to queue keys, and expectations lowered by what is seen. */
import { keyOf, sameController, sameMap } from '../../../api/meta.ts';
import type { KubeObject } from '../../../api/types/index.ts';
import type { Expectations, WorkQueue } from '../../../runtime/controller.ts';
import type { Handler, Lister, ObjectRecord, PodRecord } from '../../../runtime/informer/types.ts';
import { Adopters } from '../adopters.ts';
import type { ReplicaKind } from './kind.ts';

/** What the handlers work with. */
export interface TriggerDeps<T extends KubeObject> {
  readonly kind: ReplicaKind<T>;
  readonly owners: Lister<T>;
  readonly queue: WorkQueue;
  readonly expectations: Expectations;
}

/** Handlers of one kind's ReplicaSets and of pods. */
export class ReplicaTriggers<T extends KubeObject> {
  readonly #deps: TriggerDeps<T>;
  readonly #adopters: Adopters<T>;

  constructor(deps: TriggerDeps<T>) {
    this.#deps = deps;
    this.#adopters = new Adopters(deps.owners, (owner) => deps.kind.view(owner).spec?.selector);
  }

  /** Every event queues the key. A new UID under an old name is a deletion and an addition. */
  owners(): Handler<ObjectRecord> {
    const { queue } = this.#deps;
    return {
      add: ({ key }) => queue.add(key),
      update: (owner, previous) => {
        if (owner.uid !== previous.uid) this.#ownerGone(previous);
        queue.add(owner.key);
      },
      delete: (owner) => this.#ownerGone(owner),
    };
  }

  /** Pod events queue the pod's ReplicaSet, or those that would adopt it. */
  pods(): Handler<PodRecord> {
    return {
      add: (pod, initial) => this.#podAdded(pod, initial),
      update: (pod, previous) => this.#podUpdated(pod, previous),
      delete: (pod) => this.#podGone(pod),
    };
  }

  #ownerGone({ key }: ObjectRecord): void {
    this.#deps.expectations.forget(key);
    this.#adopters.forget(key);
    this.#deps.queue.add(key);
  }

  #podAdded(pod: PodRecord, initial: boolean): void {
    if (pod.deleting) {
      this.#podGone(pod);
      return;
    }
    // Pods known before were counted before, and every ReplicaSet is queued at the start anyway.
    if (initial) return;
    if (pod.controller === undefined) {
      this.#queueAdopters(pod);
      return;
    }
    const key = this.#ownerKey(pod);
    if (key === undefined) return;
    this.#deps.expectations.creationObserved(key);
    this.#deps.queue.add(key);
  }

  #podUpdated(pod: PodRecord, previous: PodRecord): void {
    if (pod.uid !== previous.uid) {
      this.#podGone(previous);
      this.#podAdded(pod, false);
      return;
    }
    const relabeled = !sameMap(pod.labels, previous.labels);
    if (pod.deleting) {
      this.#podGone(pod);
      if (relabeled) this.#podGone(previous);
      return;
    }
    const moved = !sameController(pod.controller, previous.controller);
    if (moved) this.#queueOwner(previous);
    if (pod.controller === undefined) {
      if (relabeled || moved) this.#queueAdopters(pod);
      return;
    }
    const key = this.#queueOwner(pod);
    if (key !== undefined && pod.ready && !previous.ready) this.#queueWhenAvailable(key, pod);
  }

  /** A pod that is going counts as deleted. Orphans concern nobody. */
  #podGone(pod: PodRecord): void {
    const key = this.#ownerKey(pod);
    if (key === undefined) return;
    this.#deps.expectations.deletionObserved(key, pod.key);
    this.#deps.queue.add(key);
  }

  #queueOwner(pod: PodRecord): string | undefined {
    const key = this.#ownerKey(pod);
    if (key !== undefined) this.#deps.queue.add(key);
    return key;
  }

  #queueAdopters(pod: PodRecord): void {
    for (const key of this.#adopters.of(pod)) this.#deps.queue.add(key);
  }

  #queueWhenAvailable(key: string, pod: PodRecord): void {
    const seconds = this.#minReadySeconds(key);
    if (seconds <= 0) return;
    const because = `pod ${pod.name} became ready and is available after ${seconds} s`;
    this.#deps.queue.addAfter(key, seconds * 1000, because);
  }

  #minReadySeconds(key: string): number {
    const { owners, kind } = this.#deps;
    try {
      const owner = owners.get(key);
      return (owner && kind.view(owner).spec?.minReadySeconds) ?? 0;
    } catch {
      // Its stored object is lost: the sync queued just now fetches it and plans the next look.
      return 0;
    }
  }

  /** Key of the cached ReplicaSet that a pod's controller reference means: kind, name and UID. */
  #ownerKey({ controller, namespace }: PodRecord): string | undefined {
    const { kind, owners } = this.#deps;
    if (controller === undefined || controller.kind !== kind.resource.kind) return undefined;
    const key = keyOf({ namespace, name: controller.name });
    return owners.record(key)?.uid === controller.uid ? key : undefined;
  }
}
