/**
 * Faults of every kind, many at once, under a load of every kind. The same in each run: what a change
 * breaks shows as a change. `make faults` draws others, and more.
 *
 * HOLDFAST_FAULTS: how many. HOLDFAST_FAULTS_SEED: other ones.
 */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type Cluster, startCluster } from '../rig/index.ts';
import { FaultCampaign } from './campaign.ts';

const COUNT = Number(process.env.HOLDFAST_FAULTS ?? 8);
const SEED = Number(process.env.HOLDFAST_FAULTS_SEED ?? 1);
const SECONDS_PER_FAULT = 60;

setDefaultTimeout(180_000);

let cluster: Cluster | undefined;
afterAll(() => cluster?.stop());

test(
  `${COUNT} faults, seed ${SEED}: all is there once, and nothing breaks`,
  async () => {
    cluster = await startCluster({
      audit: false,
      apiServerFlags: ['--etcd-compaction-interval=0'],
    });
    const campaign = await FaultCampaign.start(cluster, SEED, false);
    while (campaign.count < COUNT) expect(await campaign.round()).toEqual([]);
    expect(await campaign.end()).toEqual([]);
  },
  COUNT * SECONDS_PER_FAULT * 1_000,
);
