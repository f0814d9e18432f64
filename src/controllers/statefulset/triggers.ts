/** From informer events to the keys of StatefulSets. */
import { keyOf, sameController, sameMap } from '../../api/meta.ts';
import { STATEFUL_SETS } from '../../api/resource.ts';
import type { StatefulSet } from '../../api/types/index.ts';
import type { WorkQueue } from '../../runtime/controller.ts';
import type { Handler, Lister, ObjectRecord, PodRecord } from '../../runtime/informer/types.ts';
import { Adopters } from '../_kit/adopters.ts';
import { minReadySecondsOf } from './members.ts';

/** Handlers of StatefulSets and pods; each queues the sets concerned. */
export class StatefulSetTriggers {
  readonly #sets: Lister<StatefulSet>;
  readonly #queue: WorkQueue;
  readonly #adopters: Adopters<StatefulSet>;

  constructor(sets: Lister<StatefulSet>, queue: WorkQueue) {
    this.#sets = sets;
    this.#queue = queue;
    this.#adopters = new Adopters(sets, ({ spec }) => spec?.selector);
  }

  /** Every event queues the key. */
  sets(): Handler<ObjectRecord> {
    return {
      add: ({ key }) => this.#queue.add(key),
      update: ({ key }) => this.#queue.add(key),
      delete: ({ key }) => {
        this.#adopters.forget(key);
        this.#queue.add(key);
      },
    };
  }

  /** Pod events queue the pod's set, or those that would adopt it. */
  pods(): Handler<PodRecord> {
    return {
      // At the start every set is queued anyway.
      add: (pod, initial) => (initial ? undefined : this.#added(pod)),
      update: (pod, previous) => this.#updated(pod, previous),
      delete: (pod) => void this.#queueOwner(pod),
    };
  }

  #added(pod: PodRecord): void {
    if (pod.controller !== undefined) this.#queueOwner(pod);
    else if (!pod.deleting) this.#queueAdopters(pod);
  }

  #updated(pod: PodRecord, previous: PodRecord): void {
    if (pod.resourceVersion === previous.resourceVersion) return;
    const moved = !sameController(pod.controller, previous.controller);
    if (moved) this.#queueOwner(previous);
    if (pod.controller === undefined) {
      if (moved || !sameMap(pod.labels, previous.labels)) this.#queueAdopters(pod);
      return;
    }
    const key = this.#queueOwner(pod);
    if (key !== undefined && pod.ready && !previous.ready) this.#queueWhenAvailable(key, pod);
  }

  #queueAdopters(pod: PodRecord): void {
    for (const key of this.#adopters.of(pod)) this.#queue.add(key);
  }

  #queueOwner(pod: PodRecord): string | undefined {
    const { controller, namespace } = pod;
    if (controller?.kind !== STATEFUL_SETS.kind) return undefined;
    const key = keyOf({ namespace, name: controller.name });
    if (this.#sets.record(key)?.uid !== controller.uid) return undefined;
    this.#queue.add(key);
    return key;
  }

  #queueWhenAvailable(key: string, pod: PodRecord): void {
    const seconds = this.#minReadySeconds(key);
    if (seconds <= 0) return;
    const because = `pod ${pod.name} became ready and is available after ${seconds} s`;
    this.#queue.addAfter(key, seconds * 1000, because);
  }

  #minReadySeconds(key: string): number {
    try {
      const set = this.#sets.get(key);
      return set === undefined ? 0 : minReadySecondsOf(set);
    } catch {
      // Its stored object is lost: the sync queued just now fetches it and plans the next look.
      return 0;
    }
  }
}
