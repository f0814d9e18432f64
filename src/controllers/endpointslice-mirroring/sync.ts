/** The sync of one Endpoints object: mirrored into slices, or its mirrored slices removed. */
import { ApiError, TransportError } from '../../api/errors.ts';
import { splitKey } from '../../api/meta.ts';
import { apiVersionOf, ENDPOINT_SLICES, ENDPOINTS, SERVICES } from '../../api/resource.ts';
import type { EndpointSlice, Endpoints, Service } from '../../api/types/index.ts';
import type {
  ControllerContext,
  EventRecorder,
  ExactCreates,
  SyncRun,
} from '../../runtime/controller.ts';
import { SLICES_BY_SERVICE } from '../../runtime/informer/indexes.ts';
import type { Informer, Lister, ServiceRecord } from '../../runtime/informer/types.ts';
import { StaleCache } from '../../runtime/requeue.ts';
import { outOfDate } from '../_kit/slices/stale.ts';
import { SliceTracker } from '../_kit/slices/tracker.ts';
import { removeSlice, type SliceOwner, writeSlices } from '../_kit/slices/write.ts';
import { StepError } from '../_kit/steps.ts';
import { decide, isMirrored, type MirrorEvent, mayMirror } from './decide.ts';
import { type MirrorMetrics, mirrorMetrics } from './metrics.ts';

const COMPONENT = 'endpoint-slice-mirroring-controller';

/** Keys are those of Endpoints, which are those of their Services. */
export class MirrorSync {
  readonly tracker = new SliceTracker();
  readonly #context: ControllerContext;
  readonly #addressesMax: number;
  readonly #endpoints: Lister<Endpoints>;
  readonly #services: Lister<Service, ServiceRecord>;
  readonly #slices: Informer<EndpointSlice>;
  readonly #creates: ExactCreates;
  readonly #events: EventRecorder;
  readonly #metrics: MirrorMetrics;

  constructor(context: ControllerContext, addressesMax: number) {
    const { informers } = context;
    this.#context = context;
    this.#addressesMax = addressesMax;
    this.#endpoints = informers.of<Endpoints>(ENDPOINTS).lister;
    this.#services = informers.of<Service, ServiceRecord>(SERVICES).lister;
    this.#slices = informers.of<EndpointSlice>(ENDPOINT_SLICES);
    this.#creates = context.exactCreates(ENDPOINT_SLICES);
    this.#events = context.events(COMPONENT);
    this.#metrics = mirrorMetrics(context.metrics, addressesMax);
  }

  /** True if a sync of these Endpoints could do anything: others are made from pods. */
  concerns(key: string): boolean {
    const selector = this.#services.record(key)?.selector;
    return selector === undefined || this.#mirroredKeys(key).length > 0;
  }

  /** Throws what the server refuses, or StaleCache. */
  async reconcile(key: string, run: SyncRun): Promise<void> {
    const { clock } = this.#context;
    const startedAt = clock.monotonic();
    try {
      await this.#sync(key, run);
    } finally {
      this.#metrics.synced(clock.monotonic() - startedAt);
    }
  }

  async #sync(key: string, run: SyncRun): Promise<void> {
    const endpoints = this.#endpoints.get(key);
    if (endpoints === undefined) return await this.#removeAll(key, run, 'the Endpoints are gone');
    if (!mayMirror(endpoints)) return await this.#removeAll(key, run, 'the Endpoints say so');
    const service = this.#services.record(key);
    if (service === undefined) return await this.#removeAll(key, run, 'there is no Service');
    if (service.selector !== undefined) {
      return await this.#removeAll(key, run, 'the Service selects pods');
    }
    const { uid, deletionTimestamp } = endpoints.metadata;
    const slices = this.#slicesOf(key);
    const stale = this.tracker.staleness(key, slices, this.#slices.resourceVersion());
    if (stale !== undefined) throw new StaleCache(outOfDate(stale));
    if (!this.#context.caughtUp(key, uid))
      throw new StaleCache(outOfDate(`slices of ${key} were written`));
    const decision = decide({ endpoints, slices }, this.#addressesMax);
    this.#metrics.decided(key, decision);
    for (const event of decision.events) this.#tell(endpoints, event);
    for (const slice of decision.right) {
      if (!this.tracker.knows(key, slice.metadata.uid)) this.tracker.wrote(key, slice);
    }
    const { writes } = decision;
    const allowed = deletionTimestamp === undefined ? writes : { ...writes, create: [] };
    await writeSlices(this.#ports(), run, ownerOf(key, uid), allowed);
  }

  async #removeAll(key: string, run: SyncRun, why: string): Promise<void> {
    const slices = this.#slicesOf(key);
    this.tracker.forget(key);
    this.#metrics.forget(key);
    // Asked for no UID at all, it forgets what was written for any.
    this.#context.caughtUp(key, '');
    const refusals: Error[] = [];
    // As upstream, these deletes are not among the changes that are counted.
    const ports = { ...this.#ports(), changed: () => undefined };
    for (const slice of slices) {
      const because = `nothing is mirrored for ${key}: ${why}`;
      try {
        await removeSlice(ports, run, ownerOf(key, ''), slice, because);
      } catch (error) {
        if (!(error instanceof StepError)) throw error;
        refusals.push(error);
      }
    }
    this.tracker.forget(key);
    const [first] = refusals;
    if (first === undefined) return;
    const counted = `${refusals.length}/${slices.length}`;
    const words = messageBehind(first);
    throw new StepError(
      `error(s) deleting ${counted} EndpointSlices for ${key} Endpoints, including: ${words}`,
      first,
    );
  }

  #slicesOf(key: string): readonly EndpointSlice[] {
    const slices: EndpointSlice[] = [];
    for (const sliceKey of this.#mirroredKeys(key)) {
      const slice = this.#slices.lister.get(sliceKey);
      if (slice !== undefined) slices.push(slice);
    }
    return slices.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }

  #mirroredKeys(key: string): readonly string[] {
    const records = this.#slices.lister.byIndex(SLICES_BY_SERVICE, key);
    return records.filter(({ labels }) => isMirrored(labels)).map((record) => record.key);
  }

  #ports(): Parameters<typeof writeSlices>[0] {
    const { changed } = this.#metrics;
    return { creates: this.#creates, tracker: this.tracker, changed };
  }

  #tell({ metadata }: Endpoints, { reason, message }: MirrorEvent): void {
    const { namespace, name, uid, resourceVersion } = metadata;
    const { kind } = ENDPOINTS;
    const type = { apiVersion: apiVersionOf(ENDPOINTS), kind };
    this.#events.event(
      { ...type, namespace, name, uid, resourceVersion },
      'Warning',
      reason,
      message,
    );
  }
}

function ownerOf(key: string, uid: string): SliceOwner {
  return { kind: 'Endpoints', key, uid, ...splitKey(key) };
}

/** The server's own words. */
function messageBehind(error: Error): string {
  const { cause } = error;
  return cause instanceof ApiError || cause instanceof TransportError
    ? cause.message
    : error.message;
}
