/**
 * endpointslice-mirroring-controller: copies Endpoints that people made for a Service without
 * selector into EndpointSlices, from which proxies learn where to send traffic.
 */
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from '../../api/resource.ts';
import type { EndpointSlice, Endpoints, Service } from '../../api/types/index.ts';
import type {
  Controller,
  ControllerContext,
  ControllerDefinition,
} from '../../runtime/controller.ts';
import type { Handler, ObjectRecord, ServiceRecord } from '../../runtime/informer/types.ts';
import { sliceHandler } from '../_kit/slices/slice-triggers.ts';
import { isMirrored } from './decide.ts';
import { MirrorSync } from './sync.ts';

const WORKERS_FLAG = 'mirroring-concurrent-service-endpoint-syncs';
const MAX_FLAG = 'mirroring-max-endpoints-per-subset';
const BATCH_FLAG = 'mirroring-endpointslice-updates-batch-period';
const RETRIES_MAX = 15;
const RETRY_DELAY_BASE_MS = 1_000;
const RETRY_DELAY_MAX_MS = 100_000;

/** The passport of the endpointslice-mirroring controller. */
export const endpointSliceMirroringController: ControllerDefinition = {
  name: 'endpointslice-mirroring-controller',
  aliases: ['endpointslicemirroring'],
  gates: [],
  enabledByDefault: true,
  account: 'endpointslicemirroring-controller',
  watches: [ENDPOINTS, SERVICES, ENDPOINT_SLICES],
  writes: ['endpointslices create/update/delete', 'events create/patch'],
  flags: [WORKERS_FLAG, MAX_FLAG, BATCH_FLAG],
  build,
};

function build(context: ControllerContext): Controller {
  const { informers, flags } = context;
  const queue = context.queue('endpoint_slice_mirroring', {
    baseDelayMs: RETRY_DELAY_BASE_MS,
    maxDelayMs: RETRY_DELAY_MAX_MS,
  });
  const sync = new MirrorSync(context, Number(flags[MAX_FLAG]));
  const add = (key: string): void => queue.add(key);
  informers.of<Endpoints>(ENDPOINTS).addHandler(ofEndpoints(sync, add));
  informers.of<Service, ServiceRecord>(SERVICES).addHandler(ofServices(add));
  const batchMs = Number(flags[BATCH_FLAG]);
  const slices = informers.of<EndpointSlice>(ENDPOINT_SLICES);
  slices.addHandler(
    sliceHandler({
      slices: slices.lister,
      tracker: sync.tracker,
      isManaged: isMirrored,
      changed: (key) => queue.addAfter(key, batchMs, 'a slice changed'),
      // The Endpoints they were mirrored from may be gone.
      found: add,
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

/** Endpoints of Services that select pods change with every pod, and are never mirrored. */
function ofEndpoints(sync: MirrorSync, changed: (key: string) => void): Handler<ObjectRecord> {
  const look = ({ key }: ObjectRecord): void => {
    if (sync.concerns(key)) changed(key);
  };
  return { add: look, update: look, delete: look };
}

/** A Service matters if it has no selector, or had none before. */
function ofServices(changed: (key: string) => void): Handler<ServiceRecord> {
  const look = ({ key, selector }: ServiceRecord): void => {
    if (selector === undefined) changed(key);
  };
  return {
    add: look,
    update: (service, previous) => {
      const selects = service.selector !== undefined;
      if (selects !== (previous.selector !== undefined)) changed(service.key);
    },
    delete: look,
  };
}
