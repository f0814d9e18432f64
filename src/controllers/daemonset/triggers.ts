/** From informer events to the keys of DaemonSets, and expectations lowered by what is seen. */
import { keyOf, sameController, sameMap } from '../../api/meta.ts';
import { DAEMON_SETS } from '../../api/resource.ts';
import type { DaemonSet } from '../../api/types/index.ts';
import type { Expectations, WorkQueue } from '../../runtime/controller.ts';
import type { Handler, Lister, ObjectRecord, PodRecord } from '../../runtime/informer/types.ts';
import { Adopters } from '../_kit/adopters.ts';
import { minReadySecondsOf } from './pod.ts';

/** Beyond minReadySeconds, so that a clock some milliseconds off doesn't look too early. */
const AVAILABLE_SLACK_MS = 1_000;

/** What the handlers work with. */
export interface TriggerDeps {
  readonly sets: Lister<DaemonSet>;
  readonly queue: WorkQueue;
  readonly expectations: Expectations;
}

/** Handlers of DaemonSets, their revisions and pods. */
export class DaemonSetTriggers {
  readonly #deps: TriggerDeps;
  readonly #adopters: Adopters<DaemonSet>;

  constructor(deps: TriggerDeps) {
    this.#deps = deps;
    this.#adopters = new Adopters(deps.sets, ({ spec }) => spec?.selector);
  }

  /** Every event queues the key. A new UID under an old name is a deletion and an addition. */
  sets(): Handler<ObjectRecord> {
    const { queue } = this.#deps;
    return {
      add: ({ key }) => queue.add(key),
      update: (set, previous) => {
        if (set.uid !== previous.uid) this.#setGone(previous);
        queue.add(set.key);
      },
      delete: (set) => this.#setGone(set),
    };
  }

  /** Changed and deleted revisions queue their set; orphans those that would adopt them. */
  revisions(): Handler<ObjectRecord> {
    return {
      add: (revision, initial) => (initial ? undefined : this.#revisionAdded(revision)),
      update: (revision, previous) => this.#updated(revision, previous),
      delete: (revision) => void this.#queueOwner(revision),
    };
  }

  /** Pod events queue the pod's set, or those that would adopt it. */
  pods(): Handler<PodRecord> {
    return {
      add: (pod, initial) => this.#podAdded(pod, initial),
      update: (pod, previous) => this.#podUpdated(pod, previous),
      delete: (pod) => this.#podGone(pod),
    };
  }

  #setGone({ key }: ObjectRecord): void {
    this.#adopters.forget(key);
    this.#deps.expectations.forget(key);
    this.#deps.queue.add(key);
  }

  /** A new revision of a set was made by its own sync and is no news. */
  #revisionAdded(revision: ObjectRecord): void {
    if (revision.deleting) this.#queueOwner(revision);
    else if (revision.controller === undefined) this.#queueAdopters(revision);
  }

  #podAdded(pod: PodRecord, initial: boolean): void {
    if (pod.deleting) {
      this.#podGone(pod);
      return;
    }
    // Pods known before were counted before, and every set is queued at the start anyway.
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
    if (pod.deleting) {
      this.#podGone(pod);
      return;
    }
    const key = this.#updated(pod, previous);
    if (key !== undefined && pod.ready && !previous.ready) this.#queueWhenAvailable(key, pod);
  }

  /** Queues the owners of a changed object; gives the key of its present one. */
  #updated(object: ObjectRecord, previous: ObjectRecord): string | undefined {
    if (object.resourceVersion === previous.resourceVersion) return undefined;
    const moved = !sameController(object.controller, previous.controller);
    if (moved) this.#queueOwner(previous);
    if (object.controller !== undefined) return this.#queueOwner(object);
    if (moved || !sameMap(object.labels, previous.labels)) this.#queueAdopters(object);
    return undefined;
  }

  /** A pod that is going counts as deleted. Orphans concern nobody. */
  #podGone(pod: PodRecord): void {
    const key = this.#ownerKey(pod);
    if (key === undefined) return;
    this.#deps.expectations.deletionObserved(key, pod.key);
    this.#deps.queue.add(key);
  }

  #queueOwner(object: ObjectRecord): string | undefined {
    const key = this.#ownerKey(object);
    if (key !== undefined) this.#deps.queue.add(key);
    return key;
  }

  #queueAdopters(orphan: ObjectRecord): void {
    for (const key of this.#adopters.of(orphan)) this.#deps.queue.add(key);
  }

  #queueWhenAvailable(key: string, pod: PodRecord): void {
    const seconds = this.#minReadySeconds(key);
    if (seconds <= 0) return;
    const because = `pod ${pod.name} became ready and is available after ${seconds} s`;
    this.#deps.queue.addAfter(key, seconds * 1000 + AVAILABLE_SLACK_MS, because);
  }

  #minReadySeconds(key: string): number {
    try {
      const set = this.#deps.sets.get(key);
      return set === undefined ? 0 : minReadySecondsOf(set);
    } catch {
      // Its stored object is lost: the sync queued just now fetches it and plans the next look.
      return 0;
    }
  }

  /** Key of the cached set that a controller reference means: kind, name and UID. */
  #ownerKey({ controller, namespace }: ObjectRecord): string | undefined {
    if (controller?.kind !== DAEMON_SETS.kind) return undefined;
    const key = keyOf({ namespace, name: controller.name });
    return this.#deps.sets.record(key)?.uid === controller.uid ? key : undefined;
  }
}
