/** Measurements of many things at once: what a cluster does on its worst day. */
import { configMap, cronJob, deployment, job, service } from '../builders/index.ts';
import { type Cluster, eventually, mapBounded, notYet, type Obj } from '../rig/index.ts';
import { cpuSeconds, type Figure, mebibytes, seconds, within } from './figures.ts';
import type { Mark, Stage } from './stage.ts';

/** How much there is of everything. */
export interface Crowd {
  readonly jobs: number;
  readonly cronJobs: number;
  readonly servicePods: number;
  /** Pods of the Service that are deleted at once. */
  readonly churned: number;
  readonly nodesUp: number;
  readonly nodesSilent: number;
  readonly objects: number;
}

export const CROWD: Crowd = {
  jobs: 2_000,
  cronJobs: 200,
  servicePods: 5_000,
  churned: 50,
  nodesUp: 300,
  nodesSilent: 200,
  objects: 5_000,
};

/** A tenth of it. */
export const SMALL_CROWD: Crowd = {
  jobs: 200,
  cronJobs: 20,
  servicePods: 500,
  churned: 5,
  nodesUp: 30,
  nodesSilent: 20,
  objects: 500,
};

const AT_ONCE = 32;
const TIMEOUT_MS = 900_000;
const MINUTE_MS = 60_000;
const POLL_MS = 250;

function figures(what: string, from: Mark, to: Mark): Figure[] {
  const { rssBytes } = to.usage;
  return [
    within({ ratioMax: 1 }, seconds(`${what}: wall time`, to.at - from.at)),
    within(
      { ratioMax: 1 },
      cpuSeconds(`${what}: CPU`, to.usage.cpuSeconds - from.usage.cpuSeconds),
    ),
    within({ ratioMax: 0.5 }, mebibytes(`${what}: RSS after`, rssBytes)),
  ];
}

async function createAll(cluster: Cluster, objects: readonly object[]): Promise<void> {
  await mapBounded(objects, AT_ONCE, async (object) => {
    await cluster.api.create(object as Obj);
  });
}

function numbered<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

async function untilList(
  cluster: Cluster,
  plural: string,
  namespace: string,
  describe: string,
  isDone: (objects: Obj[]) => boolean,
): Promise<void> {
  const look = async (): Promise<true> => {
    const objects = await cluster.api.list(plural, namespace);
    if (isDone(objects)) return true;
    throw notYet(objects.length);
  };
  await eventually(look, { timeoutMs: TIMEOUT_MS, everyMs: POLL_MS, describe });
}

function isComplete({ status }: Obj): boolean {
  return status?.completionTime !== undefined;
}

/** Many Jobs of one pod, created as fast as they are taken, until all are complete. */
export async function manyJobs(stage: Stage, { jobs }: Crowd): Promise<Figure[]> {
  const { cluster } = stage;
  const namespace = await cluster.namespace('jobs', true);
  const mark = stage.mark();
  await createAll(
    cluster,
    numbered(jobs, (index) => job(`${namespace}/job-${index}`)),
  );
  const isDone = (all: Obj[]) => all.filter(isComplete).length === jobs;
  await untilList(cluster, 'jobs', namespace, 'all Jobs are complete', isDone);
  return figures(`${jobs} Jobs of one pod`, mark, stage.mark());
}

/** CronJobs that are all due in the same minute, until each has started its Job and that ended. */
export async function sameMinute(stage: Stage, { cronJobs }: Crowd): Promise<Figure[]> {
  const { cluster } = stage;
  const namespace = await cluster.namespace('cron', true);
  const left = MINUTE_MS - (Date.now() % MINUTE_MS);
  // All must be there well before the minute is full.
  if (left < MINUTE_MS / 2) await Bun.sleep(left);
  await createAll(
    cluster,
    numbered(cronJobs, (index) => cronJob(`${namespace}/cron-${index}`)),
  );
  await Bun.sleep(MINUTE_MS - (Date.now() % MINUTE_MS) - 1_000);
  const mark = stage.mark();
  await Bun.sleep(1_000);
  const started = performance.now();
  const isDone = (all: Obj[]) => all.filter(isComplete).length >= cronJobs;
  await untilList(cluster, 'jobs', namespace, 'all CronJobs have started', isDone);
  const now = stage.mark();
  await cluster.api.remove('namespaces', '', namespace);
  const what = `${cronJobs} CronJobs in one minute`;
  return figures(what, { ...mark, at: started }, now);
}

/** A Service over many pods of which some are replaced, and the end of its Deployment. */
export async function bigService(stage: Stage, crowd: Crowd): Promise<Figure[]> {
  const { cluster } = stage;
  const { servicePods, churned } = crowd;
  const namespace = await cluster.namespace('service', true);
  const id = `${namespace}/web`;
  await cluster.api.create(service(id));
  await cluster.api.create(deployment(id, { spec: { replicas: servicePods } }));
  await untilServed(cluster, namespace, servicePods);
  const pods = await cluster.api.list('pods', namespace);
  const churn = stage.mark();
  const victims = pods.slice(0, churned).map(({ metadata }) => metadata);
  await mapBounded(victims, AT_ONCE, async ({ name }) => {
    await cluster.api.remove('pods', namespace, name, { gracePeriodSeconds: 0 });
  });
  const gone = new Set(victims.map(({ name }) => name));
  await untilServed(cluster, namespace, servicePods, gone);
  const churnedAt = stage.mark();
  await cluster.api.remove('deployments', namespace, 'web', { propagationPolicy: 'Background' });
  const isEmpty = (all: Obj[]) => all.length === 0;
  await untilList(cluster, 'pods', namespace, 'all pods are gone', isEmpty);
  return [
    ...figures(`Service over ${servicePods} pods, ${churned} replaced`, churn, churnedAt),
    ...figures(`deletion of a Deployment of ${servicePods} pods`, churnedAt, stage.mark()),
  ];
}

async function untilServed(
  cluster: Cluster,
  namespace: string,
  count: number,
  gone: ReadonlySet<string> = new Set(),
): Promise<void> {
  const isDone = (slices: Obj[]): boolean => {
    const endpoints = slices.flatMap((slice) => (slice.endpoints ?? []) as Obj[]);
    const ready = endpoints.filter(({ conditions }) => conditions.ready);
    return ready.length === count && !ready.some(({ targetRef }) => gone.has(targetRef.name));
  };
  const describe = `${count} ready endpoints`;
  await untilList(cluster, 'endpointslices', namespace, describe, isDone);
}

/** A namespace with many objects goes. */
export async function fullNamespace(stage: Stage, { objects }: Crowd): Promise<Figure[]> {
  const { cluster } = stage;
  const namespace = await cluster.namespace('full', true);
  await createAll(
    cluster,
    numbered(objects, (index) => configMap(`${namespace}/map-${index}`)),
  );
  const mark = stage.mark();
  await cluster.api.remove('namespaces', '', namespace);
  await cluster.api.waitGone('namespaces', '', namespace, { timeoutMs: TIMEOUT_MS });
  return figures(`deletion of a namespace of ${objects} objects`, mark, stage.mark());
}

/** A zone falls silent: until all its nodes are marked. */
export async function silentZone(stage: Stage, crowd: Crowd): Promise<Figure[]> {
  const { cluster } = stage;
  const { nodesUp, nodesSilent } = crowd;
  await stage.moreNodes({ count: nodesUp, prefix: 'up', zone: 'a' });
  const zone = await stage.moreNodes({ count: nodesSilent, prefix: 'silent', zone: 'b' });
  const mark = stage.mark();
  await zone.stop();
  const isMarked = ({ metadata, spec }: Obj): boolean =>
    metadata.name.startsWith('silent-') &&
    (spec.taints ?? []).some((taint: Obj) => taint.key === 'node.kubernetes.io/unreachable');
  const isDone = (nodes: Obj[]) => nodes.filter(isMarked).length === nodesSilent;
  await untilList(cluster, 'nodes', '', 'all silent nodes are marked', isDone);
  const what = `${nodesSilent} of ${nodesUp + nodesSilent} nodes fall silent`;
  return figures(what, mark, stage.mark());
}

/** All of them, in the order in which they are measured. */
export const SCALE_SCENARIOS = [manyJobs, sameMinute, bigService, fullNamespace, silentZone];
