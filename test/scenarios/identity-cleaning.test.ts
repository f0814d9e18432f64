/** Cleaning of legacy tokens under the reference manager and under Holdfast comes out equal. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Cluster, eventually, type Manager, startCluster } from '../rig/index.ts';
import { CLEANING, type CleaningCase } from './identity-cleaning.ts';
import { settledIdentity } from './identity-snapshot.ts';
import type { Snapshot } from './snapshot.ts';
import { World } from './world.ts';

setDefaultTimeout(180_000);

const FLAGS = [
  '--controllers=legacy-service-account-token-cleaner',
  '--legacy-service-account-token-clean-up-period=1s',
];
const TRACKING = 'kube-apiserver-legacy-service-account-token-tracking';
const OLDER_THAN_PERIOD_MS = 2_200;

let clusters: readonly [Cluster, Cluster];
const worlds = new Map<CleaningCase, readonly World[]>();

beforeAll(async () => {
  clusters = await Promise.all([startCluster(), startCluster()]);
  await Promise.all(clusters.map(trackSinceLong));
  for (const each of CLEANING) {
    const made = clusters.map(async (cluster) => {
      const world = new World(cluster, await cluster.namespace('clean'));
      await each.furnish(world);
      return world;
    });
    worlds.set(each, await Promise.all(made));
  }
  await Bun.sleep(OLDER_THAN_PERIOD_MS);
  const [reference, holdfast] = clusters;
  const managers: Manager[] = [
    await reference.startReference({ flags: FLAGS }),
    await holdfast.startHoldfast({ flags: FLAGS }),
  ];
  await Promise.all(managers.map((manager) => manager.waitServing()));
});

afterAll(async () => {
  await Promise.all(clusters.map((cluster) => cluster.stop()));
});

/** The API server has noted which tokens are used for years, as far as it says. */
async function trackSinceLong({ api }: Cluster): Promise<void> {
  const note = () =>
    api.patch('configmaps', 'kube-system', TRACKING, { data: { since: '2020-01-01' } });
  await eventually(note, { describe: 'the tracking of tokens' });
}

/** The round has come by: what it marks first is marked. */
async function roundSeen(cluster: Cluster): Promise<void> {
  const [first] = CLEANING;
  const world = worlds.get(first as CleaningCase)?.find((one) => one.cluster === cluster);
  await world?.until('secrets', 'key', ({ metadata }) =>
    Object.keys(metadata.labels).some((label) => label.endsWith('invalid-since')),
  );
}

describe('as the reference manager', () => {
  for (const each of CLEANING) {
    test(each.name, async () => {
      await Promise.all(clusters.map(roundSeen));
      const looks = (worlds.get(each) ?? []).map((world) => settledIdentity(world));
      const [wanted, found] = (await Promise.all(looks)) as [Snapshot, Snapshot];
      expect(found).toEqual(wanted);
    });
  }
});

test('both took something away and kept something', async () => {
  const left = await Promise.all(clusters.map(({ api }) => api.list('secrets')));
  for (const secrets of left) {
    const names = secrets.map(({ metadata }) => metadata.name);
    expect(names).toContain('volume');
    expect(names).not.toContain('free');
    expect(names).not.toContain('unused');
  }
});
