/** Metrics about the process as a whole: what it is, which gates are on, how its store fares. */
import type { Gauge } from 'prom-client';
import type { ServedMetrics } from '../runtime/metrics.ts';
import { recordBuildInfo, recordVersionInfo } from '../runtime/metrics.ts';
import type { StoreHealth, StorePort } from '../runtime/ports.ts';
import { BUILD_DATE, COMMIT } from '../version.ts';
import type { RunConfig } from './config.ts';

const STAGES: Readonly<Record<string, string>> = {
  alpha: 'ALPHA',
  beta: 'BETA',
  deprecated: 'DEPRECATED',
};

/** Sets the families that never change: build, versions and feature gates, as upstream names them. */
export function recordWhatThisIs(metrics: ServedMetrics, config: RunConfig): void {
  const { binary, emulation, minCompat, runtime } = config.versions;
  const [major = '', minor = ''] = binary.split('.');
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  recordBuildInfo(metrics, {
    major,
    minor,
    gitVersion: `v${binary}`,
    gitCommit: COMMIT,
    gitTreeState: COMMIT === 'unknown' ? 'unknown' : 'clean',
    buildDate: BUILD_DATE,
    goVersion: runtime,
    compiler: 'bun',
    platform: `${process.platform}/${architecture}`,
  });
  recordVersionInfo(metrics, {
    component: 'kube',
    binary: `${major}.${minor}`,
    emulation,
    minCompat,
  });
  const help =
    '[BETA] This metric records the data about the stage and enablement of a k8s feature.';
  const gates = metrics.gauge('kubernetes_feature_enabled', help, ['name', 'stage']);
  for (const { name, stage, enabled } of config.gates) {
    gates.set({ name, stage: STAGES[stage] ?? '' }, enabled ? 1 : 0);
  }
}

const STORE_GAUGES: readonly [string, string, (health: StoreHealth) => number][] = [
  ['database_bytes', 'Size of the state file.', (health) => health.databaseBytes],
  ['wal_bytes', 'Size of its write-ahead log.', (health) => health.walBytes],
  ['pending_rows', 'Rows that wait for the next commit.', (health) => health.pendingRows],
  ['pending_bytes', 'Bytes of these rows.', (health) => health.pendingBytes],
  ['commits', 'Commits since the start.', (health) => health.commits],
  ['commit_errors', 'Commits that failed since the start.', (health) => health.commitErrors],
  ['written_bytes', 'Bytes written since the start.', (health) => health.bytesWritten],
  ['torn_resources', 'Resources with rows lost.', (health) => health.tornResources.length],
  ['unwell', '1 while the disk does not take what it is given.', (h) => (h.problem ? 1 : 0)],
  ['resumed', '1 if the file of an earlier process was taken over.', isResumed],
];

function isResumed({ opened }: StoreHealth): number {
  return opened === 'resumed' ? 1 : 0;
}

/** Adds holdfast_store_* gauges, read from the store whenever they are asked for. */
export function recordStoreHealth(metrics: ServedMetrics, store: StorePort): void {
  for (const [name, help, read] of STORE_GAUGES) {
    const gauge = metrics.gauge(`holdfast_store_${name}`, help, []);
    collectWith(gauge, () => read(store.health()));
  }
}

/** Lets a gauge take its value at the moment it is scraped. */
function collectWith(gauge: Gauge<never>, read: () => number): void {
  const collecting = gauge as unknown as { collect(): void };
  collecting.collect = () => gauge.set(read());
}
