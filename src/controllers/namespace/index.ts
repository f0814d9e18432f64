/**
 * namespace-controller: empties namespaces that are being deleted, tells what holds them, and takes
 * the finalizer off once they are empty. Start with `deleter.ts`.
 */
import { NAMESPACES } from '../../api/resource.ts';
import type { Namespace } from '../../api/types/index.ts';
import type {
  Controller,
  ControllerContext,
  ControllerDefinition,
} from '../../runtime/controller.ts';
import type { Lister, ObjectRecord } from '../../runtime/informer/types.ts';
import { deleteNamespace } from './deleter.ts';

const NAME = 'namespace-controller';
const WORKERS_FLAG = 'concurrent-namespace-syncs';
const PERIOD_FLAG = 'namespace-sync-period';
const RETRY_BASE_MS = 5;
const RETRY_MAX_MS = 60_000;
/** Time for all API servers to refuse new objects, and for etcd to show the last ones. */
const SETTLE_MS = 5_000;

/** The passport of the namespace controller. */
export const namespaceController: ControllerDefinition = {
  name: NAME,
  aliases: ['namespace'],
  gates: [],
  enabledByDefault: true,
  account: NAME,
  limits: { qps: 20, burst: 100 },
  watches: [NAMESPACES],
  writes: [
    'namespaces/status update',
    'namespaces/finalize update',
    'all namespaced resources delete/deletecollection',
  ],
  flags: [WORKERS_FLAG, PERIOD_FLAG],
  build,
};

function build(context: ControllerContext): Controller {
  const namespaces = context.informers.of<Namespace>(NAMESPACES);
  const queue = context.queue('namespace', {
    baseDelayMs: RETRY_BASE_MS,
    maxDelayMs: RETRY_MAX_MS,
  });
  const queueDeleted = ({ key, deleting }: ObjectRecord): void => {
    if (deleting) queue.addAfter(key, SETTLE_MS, 'being deleted: admission settles first');
  };
  namespaces.addHandler({ add: queueDeleted, update: queueDeleted });
  return {
    start: (signal) => {
      void resync(context, namespaces.lister, queueDeleted, signal);
    },
    queues: [
      {
        queue,
        workers: Number(context.flags[WORKERS_FLAG]),
        reconcile: async (key, run) => {
          if (namespaces.lister.record(key) === undefined) return;
          await deleteNamespace(run, key, () => context.discovery());
        },
      },
    ],
  };
}

/** Looks at every namespace again in a fixed period until the lead ends; 0: never. */
async function resync(
  { clock, flags }: ControllerContext,
  namespaces: Lister<Namespace>,
  look: (record: ObjectRecord) => void,
  signal: AbortSignal,
): Promise<void> {
  const periodMs = Number(flags[PERIOD_FLAG]);
  while (periodMs > 0) {
    await clock.sleep(periodMs, signal);
    if (signal.aborted) return;
    for (const record of namespaces.list('')) look(record);
  }
}
