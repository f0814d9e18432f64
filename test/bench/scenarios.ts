/** The measurements, the same for reference and Holdfast. */
import { deployment } from '../builders/index.ts';
import { type Cluster, eventually } from '../rig/index.ts';
import {
  cpuSeconds,
  type Figure,
  kilobytes,
  mebibytes,
  megabytes,
  seconds,
  within,
} from './figures.ts';
import type { Mark, Stage } from './stage.ts';

/** How big a run is. */
export interface Size {
  readonly nodes: number;
  readonly pods: number;
  /** Before idleness is measured: the files of the start are on disk by then. */
  readonly idleSettleMs: number;
  readonly idleMs: number;
  /** After a restart, until memory and traffic are read. */
  readonly settleMs: number;
}

export const FULL: Size = {
  nodes: 10,
  pods: 1_000,
  idleSettleMs: 75_000,
  idleMs: 60_000,
  settleMs: 20_000,
};
export const QUICK: Size = {
  nodes: 3,
  pods: 100,
  idleSettleMs: 5_000,
  idleMs: 5_000,
  settleMs: 5_000,
};

const NAME = 'bench';
const PODS_MORE = 10;
const SMALL_ROLLOUT = 100;
const MS_PER_POD_MAX = 200;
const START_TIMEOUT_MS = 180_000;
const HOUR_MS = 3_600_000;

/** What was used since a mark. */
function since(mark: Mark, now: Mark, what: string): Figure[] {
  const { usage } = now;
  return [
    cpuSeconds(`${what}: CPU`, usage.cpuSeconds - mark.usage.cpuSeconds),
    megabytes(`${what}: received from the API server`, now.bytesDown - mark.bytesDown),
    megabytes(`${what}: written to disk`, usage.diskWrittenBytes - mark.usage.diskWrittenBytes),
  ];
}

async function untilLeading(cluster: Cluster): Promise<void> {
  await eventually(
    async () => {
      const lease = await cluster.api.find('leases', 'kube-system', 'kube-controller-manager');
      return lease?.spec.holderIdentity;
    },
    { timeoutMs: START_TIMEOUT_MS, describe: 'a holder of the Lease' },
  );
}

/** Start on an empty cluster, then doing nothing. */
export async function idle(stage: Stage, size: Size): Promise<Figure[]> {
  const started = performance.now();
  await stage.start('lifted');
  await stage.manager.waitServing();
  const serving = performance.now() - started;
  await untilLeading(stage.cluster);
  await Bun.sleep(size.idleSettleMs);
  const mark = stage.mark();
  await Bun.sleep(size.idleMs);
  const now = stage.mark();
  const used = since(mark, now, `idle for ${size.idleMs / 1000} s`);
  const written = now.usage.diskWrittenBytes - mark.usage.diskWrittenBytes;
  const anHour = (written / size.idleMs) * HOUR_MS;
  return [
    seconds('first start: serving', serving),
    within({ ratioMax: 0.8 }, mebibytes('idle: RSS', now.usage.rssBytes)),
    mebibytes('idle: RSS, anonymous part', now.usage.anonymousBytes),
    ...used,
    within({ max: 1 }, megabytes('idle: written to disk in an hour, at this rate', anHour)),
  ];
}

/** A Deployment of many pods until all are ready. */
export async function rollout(stage: Stage, size: Size): Promise<Figure[]> {
  const { cluster } = stage;
  const namespace = await cluster.namespace(NAME, true);
  const mark = stage.mark();
  await cluster.api.create(deployment(`${namespace}/${NAME}`, { spec: { replicas: size.pods } }));
  await untilReady(cluster, namespace, size.pods);
  const now = stage.mark();
  const what = `rollout of ${size.pods} pods`;
  const [cpu, ...others] = since(mark, now, what);
  const written = now.usage.diskWrittenBytes - mark.usage.diskWrittenBytes;
  return [
    within({ ratioMax: 1 }, seconds(`${what}: wall time`, now.at - mark.at)),
    ...(cpu === undefined ? [] : [within({ ratioMax: 1 }, cpu)]),
    ...others,
    kilobytes(`${what}: written to disk for each pod`, written / size.pods),
    within({ ratioMax: 0.5 }, mebibytes(`${what}: RSS after`, now.usage.rssBytes)),
    mebibytes(`${what}: highest RSS`, now.usage.peakRssBytes),
  ];
}

async function untilReady(cluster: Cluster, namespace: string, pods: number): Promise<void> {
  const timeoutMs = 60_000 + pods * MS_PER_POD_MAX;
  await cluster.api.watchUntil(
    'deployments',
    namespace,
    ({ object }) => object.status?.readyReplicas === pods,
    { timeoutMs },
  );
}

/** Killed, and started again at once, while a Deployment has been scaled up. */
export async function restart(stage: Stage, size: Size): Promise<Figure[]> {
  const { cluster } = stage;
  // The observer sees only what is new: to read all pods again would cost the time it measures.
  const { metadata } = await cluster.api.listPage('pods', NAME, { limit: 1 });
  const firstNew = cluster.api.watchUntil('pods', NAME, ({ type }) => type === 'ADDED', {
    resourceVersion: metadata.resourceVersion,
    timeoutMs: START_TIMEOUT_MS,
  });
  stage.manager.kill('SIGKILL');
  await stage.manager.waitExit();
  const wanted = size.pods + PODS_MORE;
  await cluster.api.scale('deployments', NAME, NAME, wanted);
  const started = performance.now();
  const { bytesDown } = stage;
  await stage.start('lifted');
  const serving = stage.manager.waitServing().then(() => performance.now());
  await firstNew;
  const firstAt = performance.now();
  await untilReady(cluster, NAME, wanted);
  const readyAt = performance.now();
  await Bun.sleep(Math.max(0, started + size.settleMs - performance.now()));
  const now = stage.mark();
  const what = `kill -9 with ${size.pods} pods`;
  return [
    seconds(`${what}: serving`, (await serving) - started),
    within({ ratioMax: 1 / 15, max: 1.5 }, seconds(`${what}: first new pod`, firstAt - started)),
    seconds(`${what}: all ${PODS_MORE} new pods ready`, readyAt - started),
    within(
      { ratioMax: 0.01 },
      megabytes(`${what}: received from the API server`, now.bytesDown - bytesDown),
    ),
    cpuSeconds(`${what}: CPU`, now.usage.cpuSeconds),
    megabytes(`${what}: written to disk`, now.usage.diskWrittenBytes),
    mebibytes(`${what}: RSS after`, now.usage.rssBytes),
  ];
}

/** A small rollout under the default limits on requests. */
export async function limited(stage: Stage): Promise<Figure[]> {
  const { cluster } = stage;
  await stage.manager.stop();
  await stage.start('default');
  await stage.manager.waitServing();
  const probe = `${NAME}-probe`;
  const namespace = await cluster.namespace(`${NAME}-limited`, true);
  await cluster.api.create(deployment(`${namespace}/${probe}`));
  await untilReady(cluster, namespace, 1);
  await cluster.api.remove('deployments', namespace, probe);
  const started = performance.now();
  const id = `${namespace}/${NAME}`;
  await cluster.api.create(deployment(id, { spec: { replicas: SMALL_ROLLOUT } }));
  await untilReady(cluster, namespace, SMALL_ROLLOUT);
  const wall = performance.now() - started;
  return [seconds(`rollout of ${SMALL_ROLLOUT} pods under default limits: wall time`, wall)];
}
