/**
 * endpoints-controller: keeps one Endpoints object beside each Service that selects pods. The
 * EndpointSlices that proxies read are another controller's; this one serves older readers.
 */
import { FencedError, isConflict, isNamespaceTerminating, isNotFound } from '../../api/errors.ts';
import { splitKey } from '../../api/meta.ts';
import { apiVersionOf, ENDPOINTS, PODS, SERVICES } from '../../api/resource.ts';
import { selectorFromMap } from '../../api/selector.ts';
import { hasPodEndpoints } from '../../api/service.ts';
import type { Endpoints, Service } from '../../api/types/index.ts';
import type {
  BecauseOptions,
  Controller,
  ControllerContext,
  ControllerDefinition,
  EventRecorder,
  SyncRun,
  WorkQueue,
} from '../../runtime/controller.ts';
import type { Lister, ServiceRecord } from '../../runtime/informer/types.ts';
import { LEADER_ANNOTATION } from '../_kit/slices/names.ts';
import { PodServices } from '../_kit/slices/pod-services.ts';
import { TriggerTimes } from '../_kit/slices/trigger-times.ts';
import { decide, type EndpointsWrite } from './decide.ts';

const NAME = 'endpoint-controller';
const WORKERS_FLAG = 'concurrent-endpoint-syncs';
const BATCH_FLAG = 'endpoint-updates-batch-period';
const RETRIES_MAX = 15;

/** The passport of the endpoints controller. */
export const endpointsController: ControllerDefinition = {
  name: 'endpoints-controller',
  aliases: ['endpoint'],
  gates: [],
  enabledByDefault: true,
  account: NAME,
  watches: [SERVICES, PODS, ENDPOINTS],
  writes: ['endpoints create/update/delete', 'events create/patch'],
  flags: [WORKERS_FLAG, BATCH_FLAG],
  build,
};

/** Keys are those of Services; the Endpoints of a Service have the same. */
function build(context: ControllerContext): Controller {
  const queue = context.queue('endpoint');
  const sync = new EndpointsSync(context, queue);
  const services = context.informers.of<Service, ServiceRecord>(SERVICES);
  const podServices = new PodServices(services.lister);
  services.addHandler({
    add: (service) => {
      podServices.serviceChanged(service, undefined);
      queue.add(service.key);
    },
    update: (service, previous) => {
      podServices.serviceChanged(service, previous);
      queue.add(service.key);
    },
    delete: (service) => {
      podServices.serviceChanged(undefined, service);
      queue.add(service.key);
    },
  });
  const delayMs = Number(context.flags[BATCH_FLAG]);
  const queueLater = (key: string): void => queue.addAfter(key, delayMs, 'a pod changed');
  context.informers.pods().addHandler(podServices.pods(queueLater));
  context.informers.of<Endpoints>(ENDPOINTS).addHandler({ delete: ({ key }) => queue.add(key) });
  return {
    start: () => sync.queueLeftovers(),
    queues: [
      {
        queue,
        workers: Number(context.flags[WORKERS_FLAG]),
        retriesMax: RETRIES_MAX,
        reconcile: (key, run) => sync.reconcile(key, run),
      },
    ],
  };
}

class EndpointsSync {
  readonly #context: ControllerContext;
  readonly #queue: WorkQueue;
  readonly #services: Lister<Service, ServiceRecord>;
  readonly #endpoints: Lister<Endpoints>;
  readonly #events: EventRecorder;
  readonly #triggers: TriggerTimes;
  /** Their Service is in no cache, but nobody saw it go. */
  readonly #leftovers = new Set<string>();

  constructor(context: ControllerContext, queue: WorkQueue) {
    this.#context = context;
    this.#queue = queue;
    this.#services = context.informers.of<Service, ServiceRecord>(SERVICES).lister;
    this.#endpoints = context.informers.of<Endpoints>(ENDPOINTS).lister;
    this.#events = context.events(NAME);
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

  async reconcile(key: string, run: SyncRun): Promise<void> {
    if (!this.#context.caughtUp(key, guardOf(key).ownerUid)) {
      throw new Error(`endpoints informer cache is out of date: ${key} was written since`);
    }
    const service = this.#services.get(key);
    if (service === undefined) return await this.#removeLeftover(key, run);
    this.#leftovers.delete(key);
    if (!hasPodEndpoints(service)) return;
    const { matches } = selectorFromMap(service.spec?.selector);
    const pods = this.#context.informers
      .pods()
      .lister.selected(service.metadata.namespace ?? '', matches);
    const trigger = this.#triggers.look(key, service, pods);
    const current = this.#endpoints.get(key);
    const write = decide({ service, pods, current, triggerTime: trigger.time });
    if (write !== undefined) await this.#write(run, key, write);
    this.#triggers.keep(key, service, trigger);
  }

  async #write(run: SyncRun, key: string, { verb, body, because }: EndpointsWrite): Promise<void> {
    const { namespace, name } = splitKey(key);
    const options = { because, guard: guardOf(key) };
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
    const at = splitKey(key);
    // Caches of two resources are not of the same moment: the Service may be newer than its cache.
    if (this.#leftovers.has(key) && (await found<Service>(() => run.client.get(SERVICES, at)))) {
      this.#leftovers.delete(key);
      return run.note(`Service ${key} exists, though the cache does not show it yet`);
    }
    const cached = this.#endpoints.record(key);
    const live = cached ?? (await found<Endpoints>(() => run.client.get(ENDPOINTS, at)))?.metadata;
    if (live !== undefined) {
      const because = `Service ${key} does not exist`;
      await found(() => run.client.delete(ENDPOINTS, at, { uid: live.uid, because }));
    }
    this.#leftovers.delete(key);
    this.#triggers.forget(key);
  }

  #isLock(key: string): boolean {
    const annotations = this.#endpoints.get(key)?.metadata.annotations ?? {};
    return LEADER_ANNOTATION in annotations;
  }
}

/** What a call gives; undefined if the object is not there, or another has its name now. */
async function found<T>(call: () => Promise<T | undefined | void>): Promise<T | undefined> {
  try {
    return (await call()) ?? undefined;
  } catch (error) {
    if (isNotFound(error) || isConflict(error)) return undefined;
    throw error;
  }
}

/** By name alone: Endpoints stay when their Service is made anew. */
function guardOf(key: string): NonNullable<BecauseOptions['guard']> {
  return { ownerKey: key, ownerUid: key };
}
