/** The sync of one key: Endpoints of a Service that selects pods, or those of one that is gone. */
import { FencedError, isConflict, isNamespaceTerminating, isNotFound } from '../../api/errors.ts';
import { splitKey } from '../../api/meta.ts';
import { apiVersionOf, ENDPOINTS, type Resource, SERVICES } from '../../api/resource.ts';
import { selectorFromMap } from '../../api/selector.ts';
import { hasPodEndpoints } from '../../api/service.ts';
import type { Endpoints, Pod, Service } from '../../api/types/index.ts';
import type {
  BecauseOptions,
  ControllerContext,
  EventRecorder,
  SyncRun,
  WorkQueue,
} from '../../runtime/controller.ts';
import type { Lister, PodRecord, ServiceRecord } from '../../runtime/informer/types.ts';
import { StaleCache } from '../../runtime/requeue.ts';
import { LEADER_ANNOTATION } from '../_kit/slices/names.ts';
import { TriggerTimes } from '../_kit/slices/trigger-times.ts';
import { decide, type EndpointsWrite } from './decide.ts';

/** Component of events, and of the client. */
export const COMPONENT = 'endpoint-controller';

/** Keys are those of Services; the Endpoints of a Service have the same. */
export class EndpointsSync {
  readonly #context: ControllerContext;
  readonly #queue: WorkQueue;
  readonly #services: Lister<Service, ServiceRecord>;
  readonly #endpoints: Lister<Endpoints>;
  readonly #pods: Lister<Pod, PodRecord>;
  readonly #events: EventRecorder;
  readonly #triggers: TriggerTimes;
  /** Their Service is in no cache, but nobody saw it go. */
  readonly #leftovers = new Set<string>();

  constructor(context: ControllerContext, queue: WorkQueue) {
    this.#context = context;
    this.#queue = queue;
    this.#services = context.informers.of<Service, ServiceRecord>(SERVICES).lister;
    this.#endpoints = context.informers.of<Endpoints>(ENDPOINTS).lister;
    this.#pods = context.informers.pods().lister;
    this.#events = context.events(COMPONENT);
    this.#triggers = new TriggerTimes(context);
  }

  /** Endpoints whose Service went while nobody watched; those that serve as locks never had one. */
  queueLeftovers(): void {
    for (const { key } of this.#endpoints.list('')) {
      if (this.#services.record(key) !== undefined || this.#isLock(key)) continue;
      this.#leftovers.add(key);
      this.#queue.add(key);
    }
  }

  /** Throws what the server refuses, and if the cache hasn't seen the last write to this key. */
  async reconcile(key: string, run: SyncRun): Promise<void> {
    if (!this.#context.caughtUp(key, guardOf(key).ownerUid)) {
      throw new StaleCache(`endpoints informer cache is out of date: ${key} was written since`);
    }
    const service = this.#services.get(key);
    if (service === undefined) return await this.#removeLeftover(key, run);
    this.#leftovers.delete(key);
    if (!hasPodEndpoints(service)) return;
    const { matches } = selectorFromMap(service.spec?.selector);
    const pods = this.#pods.selected(service.metadata.namespace ?? '', matches);
    const trigger = this.#triggers.look(key, service, pods);
    const current = this.#endpoints.get(key);
    const write = decide({ service, pods, current, triggerTime: trigger.time });
    if (write !== undefined) await this.#write(run, key, write);
    this.#triggers.keep(key, service, trigger);
  }

  async #write(run: SyncRun, key: string, { verb, body, because }: EndpointsWrite): Promise<void> {
    const { namespace, name } = splitKey(key);
    const options = { because, guard: guardOf(key), metadataOnly: true };
    try {
      if (verb === 'create') await run.client.create(ENDPOINTS, { namespace }, body, options);
      else await run.client.update(ENDPOINTS, { namespace, name }, body, options);
    } catch (error) {
      if (verb === 'create' && isNamespaceTerminating(error)) return;
      if (!(error instanceof FencedError)) this.#tellFailure(key, verb, body, error);
      throw error;
    }
  }

  #tellFailure(
    key: string,
    verb: EndpointsWrite['verb'],
    { metadata }: EndpointsWrite['body'],
    error: unknown,
  ): void {
    const about = {
      ...splitKey(key),
      apiVersion: apiVersionOf(ENDPOINTS),
      kind: ENDPOINTS.kind,
      uid: metadata.uid,
      resourceVersion: metadata.resourceVersion,
    };
    const why = error instanceof Error ? error.message : String(error);
    const [reason, what] =
      verb === 'create'
        ? ['FailedToCreateEndpoint', `create endpoint for service ${key}`]
        : ['FailedToUpdateEndpoint', `update endpoint ${key}`];
    this.#events.event(about, 'Warning', reason, `Failed to ${what}: ${why}`);
  }

  /** The Service is gone, and so go its Endpoints. */
  async #removeLeftover(key: string, run: SyncRun): Promise<void> {
    // Caches of two resources are not of the same moment: the Service may be newer than its cache.
    if (this.#leftovers.has(key) && (await liveUid(run, SERVICES, key)) !== undefined) {
      this.#leftovers.delete(key);
      return run.note(`Service ${key} exists, though the cache does not show it yet`);
    }
    const uid = this.#endpoints.record(key)?.uid ?? (await liveUid(run, ENDPOINTS, key));
    if (uid !== undefined) await this.#remove(run, key, uid);
    this.#leftovers.delete(key);
    this.#triggers.forget(key);
  }

  async #remove(run: SyncRun, key: string, uid: string): Promise<void> {
    const because = `Service ${key} does not exist`;
    try {
      await run.client.delete(ENDPOINTS, splitKey(key), { uid, because });
    } catch (error) {
      // A conflict means that other Endpoints have this name now: those meant are gone.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }

  #isLock(key: string): boolean {
    try {
      const annotations = this.#endpoints.get(key)?.metadata.annotations ?? {};
      return LEADER_ANNOTATION in annotations;
    } catch {
      // The disk lost it, so nobody can say: leave it alone.
      return true;
    }
  }
}

/** UID of an object as the server has it now; undefined if there is none. */
async function liveUid(run: SyncRun, resource: Resource, key: string): Promise<string | undefined> {
  try {
    return (await run.client.get(resource, splitKey(key))).metadata.uid;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** By name alone: Endpoints stay when their Service is made anew. */
function guardOf(key: string): NonNullable<BecauseOptions['guard']> {
  return { ownerKey: key, ownerUid: key };
}
