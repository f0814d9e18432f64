/**
 * endpoints-controller: keeps one Endpoints object beside each Service that selects pods. Proxies
 * read the EndpointSlices of another controller; this one serves older readers.
 */
import { ENDPOINTS, PODS, SERVICES } from '../../api/resource.ts';
import type { Endpoints, Service } from '../../api/types/index.ts';
import type {
  Controller,
  ControllerContext,
  ControllerDefinition,
} from '../../runtime/controller.ts';
import type { ServiceRecord } from '../../runtime/informer/types.ts';
import { PodServices } from '../_kit/slices/pod-services.ts';
import { COMPONENT, EndpointsSync } from './sync.ts';

const WORKERS_FLAG = 'concurrent-endpoint-syncs';
const BATCH_FLAG = 'endpoint-updates-batch-period';
const RETRIES_MAX = 15;

/** The passport of the endpoints controller. */
export const endpointsController: ControllerDefinition = {
  name: 'endpoints-controller',
  aliases: ['endpoint'],
  gates: [],
  enabledByDefault: true,
  account: COMPONENT,
  watches: [SERVICES, PODS, ENDPOINTS],
  writes: ['endpoints create/update/delete', 'events create/patch'],
  flags: [WORKERS_FLAG, BATCH_FLAG],
  build,
};

function build(context: ControllerContext): Controller {
  const queue = context.queue('endpoint');
  const sync = new EndpointsSync(context, queue);
  const services = context.informers.of<Service, ServiceRecord>(SERVICES);
  const podServices = new PodServices(services.lister);
  services.addHandler(podServices.services((key) => queue.add(key)));
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
