/** From informer events to the keys of Deployments. */
import { keyOf, sameController, sameMap } from '../../api/meta.ts';
import { DEPLOYMENTS, REPLICA_SETS } from '../../api/resource.ts';
import { compileSelector } from '../../api/selector.ts';
import type { Deployment } from '../../api/types/index.ts';
import type { WorkQueue } from '../../runtime/controller.ts';
import type { Handler, ObjectRecord, PodRecord } from '../../runtime/informer/types.ts';
import type { DeploymentCaches } from './observe.ts';
import { strategyOf } from './sizes.ts';

/** Handlers of Deployments, ReplicaSets and pods; each queues the Deployments concerned. */
export class DeploymentTriggers {
  readonly #caches: DeploymentCaches;
  readonly #queue: WorkQueue;

  constructor(caches: DeploymentCaches, queue: WorkQueue) {
    this.#caches = caches;
    this.#queue = queue;
  }

  /** Every event queues the key. */
  deployments(): Handler<ObjectRecord> {
    return {
      add: ({ key }) => this.#queue.add(key),
      update: ({ key }) => this.#queue.add(key),
      delete: ({ key }) => this.#queue.add(key),
    };
  }

  /** Events of a ReplicaSet queue its Deployment, or those that would adopt it. */
  replicaSets(): Handler<ObjectRecord> {
    return {
      // At the start every Deployment is queued anyway.
      add: (record, initial) => (initial ? undefined : this.#replicaSetAdded(record)),
      update: (record, previous) => this.#replicaSetUpdated(record, previous),
      delete: (record) => this.#queueOwner(record),
    };
  }

  /** The last pod of a Recreate Deployment is gone: its next step may be due. */
  pods(): Handler<PodRecord> {
    return { delete: (pod) => this.#podDeleted(pod) };
  }

  #replicaSetAdded(record: ObjectRecord): void {
    if (record.controller !== undefined) this.#queueOwner(record);
    else if (!record.deleting) this.#queueAdopters(record);
  }

  #replicaSetUpdated(record: ObjectRecord, previous: ObjectRecord): void {
    if (record.resourceVersion === previous.resourceVersion) return;
    const moved = !sameController(record.controller, previous.controller);
    if (moved) this.#queueOwner(previous);
    if (record.controller !== undefined) this.#queueOwner(record);
    else if (moved || !sameMap(record.labels, previous.labels)) this.#queueAdopters(record);
  }

  #queueOwner(replicaSet: ObjectRecord): void {
    const owner = this.#deploymentOf(replicaSet);
    if (owner !== undefined) this.#queue.add(owner.key);
  }

  #queueAdopters(replicaSet: ObjectRecord): void {
    if (Object.keys(replicaSet.labels).length === 0) return;
    for (const { key } of this.#caches.deployments.list(replicaSet.namespace)) {
      if (this.#wants(key, replicaSet)) this.#queue.add(key);
    }
  }

  /** An empty or invalid selector wants nothing. */
  #wants(key: string, replicaSet: ObjectRecord): boolean {
    return this.#ask(key, ({ spec }) => {
      const { selector } = compileSelector(spec?.selector);
      return selector !== undefined && !selector.empty && selector.matches(replicaSet.labels);
    });
  }

  #podDeleted(pod: PodRecord): void {
    const { replicaSets, pods } = this.#caches;
    if (pod.controller?.kind !== REPLICA_SETS.kind) return;
    const { namespace, controller } = pod;
    const replicaSet = replicaSets.record(keyOf({ namespace, name: controller.name }));
    if (replicaSet?.uid !== controller.uid) return;
    const owner = this.#deploymentOf(replicaSet);
    if (owner === undefined) return;
    if (!this.#ask(owner.key, (deployment) => strategyOf(deployment) === 'Recreate')) return;
    const owned = replicaSets.controlledBy(owner.uid);
    if (owned.every(({ uid }) => pods.controlledBy(uid).length === 0)) this.#queue.add(owner.key);
  }

  /** Asks the whole Deployment. If the disk lost it: yes; its own sync fetches it and looks. */
  #ask(key: string, question: (deployment: Deployment) => boolean): boolean {
    try {
      const deployment = this.#caches.deployments.get(key);
      return deployment !== undefined && question(deployment);
    } catch {
      return true;
    }
  }

  /** The cached Deployment that a controller reference means: kind, name and UID. */
  #deploymentOf({ namespace, controller }: ObjectRecord): ObjectRecord | undefined {
    if (controller?.kind !== DEPLOYMENTS.kind) return undefined;
    const record = this.#caches.deployments.record(keyOf({ namespace, name: controller.name }));
    return record?.uid === controller.uid ? record : undefined;
  }
}
