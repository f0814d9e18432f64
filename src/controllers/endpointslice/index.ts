/**
 * endpointslice-controller: keeps the EndpointSlices of each Service that selects pods, from which
 * proxies learn where to send traffic. Start with `decide.ts`: one Service in one family.
 */
import { ENDPOINT_SLICES, NODES, PODS, SERVICES } from '../../api/resource.ts';
import type { EndpointSlice, Node, Service } from '../../api/types/index.ts';
import type {
  Controller,
  ControllerContext,
  ControllerDefinition,
} from '../../runtime/controller.ts';
import type { Handler, Lister, ObjectRecord, ServiceRecord } from '../../runtime/informer/types.ts';
import { PodServices } from '../_kit/slices/pod-services.ts';
import { sliceHandler } from '../_kit/slices/slice-triggers.ts';
import { isManaged } from './labels.ts';
import { SliceSync } from './sync.ts';

const WORKERS_FLAG = 'concurrent-service-endpoint-syncs';
const MAX_FLAG = 'max-endpoints-per-slice';
const BATCH_FLAG = 'endpointslice-updates-batch-period';
const RETRIES_MAX = 15;
const RETRY_DELAY_BASE_MS = 1_000;
const RETRY_DELAY_MAX_MS = 1_000_000;
/** A changed slice brings a sync no sooner, so that changes of several come together. */
const SLICE_CHANGE_DELAY_MS = 1_000;

/** The passport of the endpointslice controller. */
export const endpointSliceController: ControllerDefinition = {
  name: 'endpointslice-controller',
  aliases: ['endpointslice'],
  gates: [],
  enabledByDefault: true,
  account: 'endpointslice-controller',
  watches: [SERVICES, PODS, NODES, ENDPOINT_SLICES],
  writes: ['endpointslices create/update/delete', 'events create/patch'],
  flags: [WORKERS_FLAG, MAX_FLAG, BATCH_FLAG],
  build,
};

function build(context: ControllerContext): Controller {
  const { informers, flags } = context;
  const queue = context.queue('endpoint_slice', {
    baseDelayMs: RETRY_DELAY_BASE_MS,
    maxDelayMs: RETRY_DELAY_MAX_MS,
  });
  const batchMs = Number(flags[BATCH_FLAG]);
  const sync = new SliceSync(context, {
    endpointsMax: Number(flags[MAX_FLAG]),
    preferSame: context.gate('PreferSameTrafficDistribution'),
  });
  const services = informers.of<Service, ServiceRecord>(SERVICES);
  const podServices = new PodServices(services.lister);
  services.addHandler(podServices.services((key) => queue.add(key)));
  const queueLater = (key: string): void => queue.addAfter(key, batchMs, 'a pod changed');
  informers.pods().addHandler(podServices.pods(queueLater));
  const nodes = informers.of<Node>(NODES);
  nodes.addHandler(nodeHandler(sync, nodes.lister, (key) => queue.add(key)));
  const slices = informers.of<EndpointSlice>(ENDPOINT_SLICES);
  const delayMs = Math.max(SLICE_CHANGE_DELAY_MS, batchMs);
  slices.addHandler(
    sliceHandler({
      slices: slices.lister,
      tracker: sync.tracker,
      isManaged,
      changed: (key) => queue.addAfter(key, delayMs, 'a slice changed'),
    }),
  );
  return {
    queues: [
      {
        queue,
        workers: Number(flags[WORKERS_FLAG]),
        retriesMax: RETRIES_MAX,
        reconcile: (key, run) => sync.reconcile(key, run),
      },
    ],
  };
}

/** A node that comes, goes, or changes readiness or zone may leave hints that overload a zone. */
function nodeHandler(
  { zones, hints }: SliceSync,
  nodes: Lister<Node>,
  changed: (serviceKey: string) => void,
): Handler<ObjectRecord> {
  const check = (): void => {
    // As long as the shares can't be told, all hints may be wrong.
    for (const key of hints.overloaded(zones.lost.size > 0 ? undefined : zones.ratios))
      changed(key);
  };
  const put = ({ name }: ObjectRecord): void => {
    try {
      const node = nodes.get(name);
      if (node === undefined || !zones.put(node)) return;
    } catch {
      // The disk lost it: a sync that needs the shares has it fetched.
      zones.lost.add(name);
    }
    check();
  };
  return {
    add: put,
    update: put,
    delete: ({ name }) => {
      zones.remove(name);
      check();
    },
  };
}
