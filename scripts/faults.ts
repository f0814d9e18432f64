/**
 * `make faults N=200`: troubles of the connection, of the API server's answers, of the disk and of the
 * machine, some at a time, by lot from SEED, under a mixed load on a real cluster. After each round
 * everything must be there exactly once. Prints a table of what happened, and the seed to repeat the
 * choices with.
 */
import { FaultCampaign } from '../test/faults/campaign.ts';
import { startCluster } from '../test/rig/index.ts';
import { wholeNumber } from './numbers.ts';

async function main(): Promise<number> {
  const total = wholeNumber('N', 200);
  const seed = wholeNumber('SEED', Date.now() % 1_000_000);
  console.log(`fault campaign: N=${total} SEED=${seed}`);
  // State files are compared with what was at their resume points, however old.
  const apiServerFlags = ['--etcd-compaction-interval=0'];
  const cluster = await startCluster({ audit: false, apiServerFlags });
  const since = performance.now();
  try {
    const campaign = await FaultCampaign.start(cluster, seed, true);
    let complaints: string[] = [];
    while (campaign.count < total && complaints.length === 0) {
      complaints = await campaign.round();
      const seconds = Math.round((performance.now() - since) / 1e3);
      console.log(`${campaign.count} of ${total}; ${seconds} s`);
    }
    if (complaints.length === 0) complaints = await campaign.end();
    console.log(campaign.table());
    const verdict = complaints.length === 0 ? 'nothing was made twice, nothing was lost' : 'FAILED';
    console.log([`${verdict}; seed ${seed}`, ...complaints].join('\n'));
    return complaints.length === 0 ? 0 : 1;
  } finally {
    await cluster.stop();
  }
}

process.exit(await main());
