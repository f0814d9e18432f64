/** The sync of one Service: its slices, family by family. */
import { ApiError, TransportError } from '../../api/errors.ts';
import type { IpFamily } from '../../api/ip.ts';
import { apiVersionOf, ENDPOINT_SLICES, NODES, SERVICES } from '../../api/resource.ts';
import { selectorFromMap } from '../../api/selector.ts';
import { hasPodEndpoints } from '../../api/service.ts';
import type { EndpointSlice, Node, Pod, Service } from '../../api/types/index.ts';
import type {
  ControllerContext,
  EventRecorder,
  ExactCreates,
  SyncRun,
} from '../../runtime/controller.ts';
import { SLICES_BY_SERVICE } from '../../runtime/informer/indexes.ts';
import type { Informer, Lister, PodRecord, ServiceRecord } from '../../runtime/informer/types.ts';
import { StaleCache } from '../../runtime/requeue.ts';
import { wasCutOff } from '../_kit/cut-off.ts';
import { outOfDate } from '../_kit/slices/stale.ts';
import { SliceTracker } from '../_kit/slices/tracker.ts';
import { TriggerTimes } from '../_kit/slices/trigger-times.ts';
import { removeSlice, type SliceOwner, writeSlices } from '../_kit/slices/write.ts';
import { StepError, together } from '../_kit/steps.ts';
import { decide, type SliceConfig } from './decide.ts';
import { familiesOf } from './families.ts';
import { asksForTopology, distributionOf } from './hints.ts';
import { isManaged } from './labels.ts';
import { type SliceMetrics, sliceMetrics } from './metrics.ts';
import type { ZoneRatios } from './topology.ts';
import { HintBook, NodeZones, ZONE_LABEL } from './zones.ts';

/** Component of events about Services. */
const COMPONENT = 'endpoint-slice-controller';

/** What one sync works on. */
interface Work {
  readonly key: string;
  readonly service: Service;
  readonly owner: SliceOwner;
  readonly pods: readonly PodRecord[];
  readonly zones: ReadonlyMap<string, string>;
  readonly slices: readonly EndpointSlice[];
  readonly triggerTime: string | undefined;
}

/** Keys are those of Services. What must outlive a sync is kept here. */
export class SliceSync {
  readonly tracker = new SliceTracker();
  readonly zones = new NodeZones();
  readonly hints = new HintBook();
  readonly #context: ControllerContext;
  readonly #config: SliceConfig;
  readonly #services: Lister<Service, ServiceRecord>;
  readonly #pods: Lister<Pod, PodRecord>;
  readonly #nodes: Lister<Node>;
  readonly #slices: Informer<EndpointSlice>;
  readonly #creates: ExactCreates;
  readonly #events: EventRecorder;
  readonly #triggers: TriggerTimes;
  readonly #metrics: SliceMetrics;

  constructor(context: ControllerContext, config: SliceConfig) {
    const { informers } = context;
    this.#context = context;
    this.#config = config;
    this.#services = informers.of<Service, ServiceRecord>(SERVICES).lister;
    this.#pods = informers.pods().lister;
    this.#nodes = informers.of<Node>(NODES).lister;
    this.#slices = informers.of<EndpointSlice>(ENDPOINT_SLICES);
    this.#creates = context.exactCreates(ENDPOINT_SLICES);
    this.#events = context.events(COMPONENT);
    this.#triggers = new TriggerTimes(context);
    this.#metrics = sliceMetrics(context.metrics, config.endpointsMax);
  }

  /** Throws what the server refuses, what pods were left out for, or StaleCache. */
  async reconcile(key: string, run: SyncRun): Promise<void> {
    try {
      await this.#sync(key, run);
      this.#metrics.synced('success');
    } catch (error) {
      const result = error instanceof StaleCache ? 'stale' : 'error';
      if (!wasCutOff(run, error)) this.#metrics.synced(result);
      throw error;
    }
  }

  async #sync(key: string, run: SyncRun): Promise<void> {
    const service = this.#services.get(key);
    if (service === undefined) return this.#forget(key);
    if (!hasPodEndpoints(service)) return;
    const { namespace = '', name, uid } = service.metadata;
    const pods = this.#pods.selected(namespace, selectorFromMap(service.spec?.selector).matches);
    const slices = this.#slicesOf(key, uid);
    const trigger = this.#triggers.look(key, service, pods);
    const owner: SliceOwner = { kind: 'Service', key, namespace, name, uid };
    const zones = this.#zonesOf(pods);
    const work = { key, service, owner, pods, zones, slices, triggerTime: trigger.time };
    const { refusals, problems } = await this.#syncFamilies(work, run);
    if (refusals.length === 0) this.#triggers.keep(key, service, trigger);
    const errors = [...problems, ...refusals];
    if (errors.length === 0) return;
    const error = together(errors);
    const what = `Error updating Endpoint Slices for Service ${key}: ${error.message}`;
    this.#tell(service, 'Warning', 'FailedToUpdateEndpointSlices', what);
    throw error;
  }

  /** One family's failure doesn't keep the others from being synced. */
  async #syncFamilies(
    work: Work,
    run: SyncRun,
  ): Promise<{ readonly refusals: readonly Error[]; readonly problems: readonly Error[] }> {
    const { key, service, owner, slices } = work;
    const families = familiesOf(service);
    const others = slices.filter(({ addressType }) => !families.some((one) => one === addressType));
    for (const { addressType } of others) this.hints.remove(key, addressType);
    const refusals: Error[] = [];
    const problems = new Set<string>();
    for (const family of families) {
      await collect(refusals, () => this.#syncFamily(work, family, run, problems));
    }
    for (const slice of others) {
      const because = `Service ${key} has no ${slice.addressType} addresses`;
      await collect(refusals, () =>
        removeSlice(this.#ports(), run, owner, slice, because, 'error deleting'),
      );
    }
    return { refusals, problems: Array.from(problems, (text) => new Error(text)) };
  }

  /** Adds what pods were left out for to `problems`, also if it throws a refusal. */
  async #syncFamily(
    work: Work,
    family: IpFamily,
    run: SyncRun,
    problems: Set<string>,
  ): Promise<void> {
    const { key, service, owner } = work;
    const decision = decide(
      {
        ...work,
        family,
        slices: work.slices.filter(({ addressType }) => addressType === family),
        ratios: asksForTopology(service) ? this.#ratios() : undefined,
        hintsEnabled: this.hints.isEnabled(key),
      },
      this.#config,
    );
    const { writes, hintCounts, events } = decision;
    for (const problem of decision.problems) problems.add(problem);
    if (hintCounts === undefined) this.hints.remove(key, family);
    else this.hints.set(key, family, hintCounts);
    const distribution = distributionOf(service, this.#config.preferSame);
    this.#metrics.decided(key, decision);
    this.#metrics.distributes(key, distribution);
    try {
      const deleting = service.metadata.deletionTimestamp !== undefined;
      // The garbage collector is at work on them: new ones would only be in its way.
      const allowed = deleting ? { ...writes, create: [] } : writes;
      if (await writeSlices(this.#ports(), run, owner, allowed)) {
        const count = writes.create.length + writes.update.length + writes.remove.length;
        this.#metrics.written(count, asksForTopology(service), distribution);
      }
    } finally {
      for (const { type, reason, message } of events) this.#tell(service, type, reason, message);
    }
  }

  /** Slices of this controller that aren't being deleted, by name. Throws StaleCache. */
  #slicesOf(key: string, uid: string): readonly EndpointSlice[] {
    const slices: EndpointSlice[] = [];
    for (const record of this.#slices.lister.byIndex(SLICES_BY_SERVICE, key)) {
      const slice = isManaged(record.labels) ? this.#slices.lister.get(record.key) : undefined;
      if (slice !== undefined) slices.push(slice);
    }
    const stale = this.tracker.staleness(key, slices, this.#slices.resourceVersion());
    if (stale !== undefined) throw new StaleCache(outOfDate(stale));
    if (!this.#context.caughtUp(key, uid))
      throw new StaleCache(outOfDate(`slices of ${key} were written`));
    return slices
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }

  /** Throws if the disk lost a node; the worker fetches it then. */
  #ratios(): ZoneRatios {
    for (const name of this.zones.lost) {
      const node = this.#nodes.get(name);
      if (node === undefined) this.zones.remove(name);
      else this.zones.put(node);
    }
    return this.zones.ratios;
  }

  #zonesOf(pods: readonly PodRecord[]): ReadonlyMap<string, string> {
    const zones = new Map<string, string>();
    for (const { nodeName } of pods) {
      if (zones.has(nodeName)) continue;
      const node = this.#nodes.record(nodeName);
      if (node !== undefined) zones.set(nodeName, node.labels[ZONE_LABEL] ?? '');
    }
    return zones;
  }

  #ports(): Parameters<typeof writeSlices>[0] {
    const changed = this.#metrics.changed;
    return { creates: this.#creates, tracker: this.tracker, changed };
  }

  /** The garbage collector deletes the slices of a Service that is gone. */
  #forget(key: string): void {
    this.tracker.forget(key);
    this.hints.forget(key);
    this.#triggers.forget(key);
    this.#metrics.forget(key);
    // Asked for no UID at all, it forgets what was written for any.
    this.#context.caughtUp(key, '');
  }

  #tell(service: Service, type: 'Normal' | 'Warning', reason: string, message: string): void {
    const { namespace, name, uid, resourceVersion } = service.metadata;
    const { kind } = SERVICES;
    const about = {
      apiVersion: apiVersionOf(SERVICES),
      kind,
      namespace,
      name,
      uid,
      resourceVersion,
    };
    this.#events.event(about, type, reason, message);
  }
}

/** Notes a refusal of the server; mistakes of our own and a lost Lease end the sync. */
async function collect(refusals: Error[], action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    const refused =
      error instanceof StepError || error instanceof ApiError || error instanceof TransportError;
    if (!refused) throw error;
    refusals.push(error);
  }
}
