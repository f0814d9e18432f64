/**
 * resourcequota-controller: counts what namespaces use of their quotas and says so in their status.
 * `meter.ts` measures with the evaluators, `decide.ts` says what the status must be.
 */
import {
  apiVersionOf,
  PERSISTENT_VOLUME_CLAIMS,
  PODS,
  RESOURCE_QUOTAS,
  SERVICES,
} from '../../api/resource.ts';
import type { ResourceQuota } from '../../api/types/index.ts';
import type {
  Controller,
  ControllerContext,
  ControllerDefinition,
  SyncRun,
  WorkQueue,
} from '../../runtime/controller.ts';
import type { Informer, ObjectRecord } from '../../runtime/informer/types.ts';
import { QuotaBook } from './book.ts';
import { decide, sameLimits } from './decide.ts';
import { Meter } from './meter.ts';
import { MissedObjects } from './missed.ts';
import { Monitors, quotaFollows } from './monitors.ts';

const NAME = 'resourcequota-controller';
const WORKERS_FLAG = 'concurrent-resource-quota-syncs';
const PERIOD_FLAG = 'resource-quota-sync-period';
const TYPE = { apiVersion: apiVersionOf(RESOURCE_QUOTAS), kind: RESOURCE_QUOTAS.kind };

/** The passport of the quota controller. */
export const resourceQuotaController: ControllerDefinition = {
  name: NAME,
  aliases: ['resourcequota'],
  gates: [],
  enabledByDefault: true,
  account: NAME,
  watches: [RESOURCE_QUOTAS, PODS, SERVICES, PERSISTENT_VOLUME_CLAIMS],
  follows: () => ({ wants: quotaFollows }),
  writes: ['resourcequotas/status update'],
  flags: [WORKERS_FLAG, PERIOD_FLAG],
  build,
};

function build(context: ControllerContext): Controller {
  const primary = context.queue('resourcequota_primary');
  const urgent = context.queue('resourcequota_priority');
  const changes = context.queue('resource_quota_controller_resource_changes');
  const quotas = context.informers.of<ResourceQuota>(RESOURCE_QUOTAS);
  const book = new QuotaBook();
  const meter = new Meter(() => context.clock.sleep(0));
  const missed = new MissedObjects();
  const monitors = new Monitors({ context, meter, book, missed, changes });
  monitors.begin();
  watchQuotas({ quotas, book, meter, missed, monitors, primary, urgent });
  const workers = Number(context.flags[WORKERS_FLAG]);
  const reconcile = async (key: string, run: SyncRun): Promise<void> => {
    await monitors.ready();
    const quota = quotas.lister.get(key);
    if (quota === undefined) return;
    if (await sync(quota, { meter, missed, monitors }, run)) primary.add(key);
  };
  return {
    async start(signal) {
      await monitors.complete(signal);
      void resync(context, quotas, primary, signal);
    },
    queues: [
      { queue: primary, workers, announcesNothing: true, reconcile },
      { queue: urgent, workers, announcesNothing: true, reconcile },
      {
        queue: changes,
        workers: 1,
        async reconcile(change) {
          const [resource = '', namespace = ''] = change.split(' ');
          const measures = (name: string) => monitors.get(resource)?.measures(name) ?? false;
          for (const key of book.limiting(namespace, measures)) primary.add(key);
        },
      },
    ],
  };
}

interface Watching {
  readonly quotas: Informer<ResourceQuota>;
  readonly book: QuotaBook;
  readonly meter: Meter;
  readonly missed: MissedObjects;
  readonly monitors: Monitors;
  readonly primary: WorkQueue;
  readonly urgent: WorkQueue;
}

/** Only new limits make a quota due; its status is what this controller writes itself. */
function watchQuotas(watching: Watching): void {
  const { quotas, book, meter, missed, monitors, primary, urgent } = watching;
  const look = ({ key }: ObjectRecord): void => {
    let quota: ResourceQuota | undefined;
    try {
      quota = quotas.lister.get(key);
    } catch {
      // The disk lost it: its sync fetches it.
      urgent.add(key);
      return;
    }
    if (quota === undefined || !book.note(key, quota)) return;
    if (isUrgent(quota, monitors)) urgent.add(key);
    else primary.add(key);
  };
  quotas.addHandler({
    add: look,
    update: look,
    delete({ key, namespace }) {
      if (book.remove(namespace, key)) {
        meter.forget(namespace);
        missed.forget(namespace);
      }
      primary.add(key);
    },
  });
}

/** A limit is not in the status yet, or nobody has said yet how much of it is used. */
function isUrgent(quota: ResourceQuota, monitors: Monitors): boolean {
  if (!sameLimits(quota)) return true;
  const { hard = {}, used = {} } = quota.status ?? {};
  const unknown = Object.keys(hard).filter((name) => used[name] === undefined);
  return unknown.some((name) => [...monitors.evaluators()].some((one) => one.measures(name)));
}

/** True if the quota must be counted again: objects appeared while its status was written. */
async function sync(
  quota: ResourceQuota,
  { meter, missed, monitors }: Pick<Watching, 'meter' | 'missed' | 'monitors'>,
  run: SyncRun,
): Promise<boolean> {
  const { namespace = '', name } = quota.metadata;
  const before = missed.counting(namespace);
  let again = false;
  const { amounts, problems } = await meter.measure(quota, monitors.evaluators(), run.now);
  const next = decide(quota, amounts);
  if (next !== undefined) {
    const { hard, used, because } = next;
    const at = { namespace, name, subresource: 'status' };
    const body = { ...quota, ...TYPE, status: { hard, used } };
    const stored = await run.client.update<ResourceQuota>(RESOURCE_QUOTAS, at, body, { because });
    again = missed.written(namespace, stored.metadata.resourceVersion, before);
  }
  if (problems.length === 1) throw new Error(problems.join(''));
  if (problems.length > 1) throw new Error(`[${problems.join(', ')}]`);
  return again;
}

/** Counts everything anew at the start and in a fixed period until the lead ends; 0: never. */
async function resync(
  { clock, flags, log }: ControllerContext,
  quotas: Informer<ResourceQuota>,
  queue: WorkQueue,
  signal: AbortSignal,
): Promise<void> {
  const periodMs = Number(flags[PERIOD_FLAG]);
  if (periodMs <= 0) log.info('Periodic quota controller resync disabled');
  while (periodMs > 0 && !signal.aborted) {
    for (const { key } of quotas.lister.list('')) queue.add(key);
    await clock.sleep(periodMs, signal);
  }
}
