/** What the cluster waits for never waits for the disk: the main thread makes no call that syncs. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../rig/index.ts';
import { deployment, template } from '../scenarios/world.ts';
import { Bench, storeOf } from './bench.ts';

setDefaultTimeout(180_000);

const SYNCS = 'fsync,fdatasync,sync,syncfs,sync_file_range,msync';
const HAS_STRACE = Bun.spawnSync(['strace', '-o', '/dev/null', 'true']).success;
const REPLICAS = 50;
/** Makes the rows of pods long, so that the WAL soon is. */
const PADDING = 'x'.repeat(24_000);
const ROLLOUTS_MAX = 12;
const FLAGS = ['--kube-api-qps=500', '--kube-api-burst=1000'];

let bench: Bench;

beforeAll(async () => {
  if (HAS_STRACE) bench = await Bench.start('fsync');
});

afterAll(async () => {
  await bench?.cluster.stop();
});

/** Syncing calls by thread, and the main thread. */
function traced(path: string): { main: string; calls: Map<string, number> } {
  const calls = new Map<string, number>();
  let main = '';
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const [, thread = '', call = ''] = /^(\d+) +(?:<\.\.\. )?(\w+)/.exec(line) ?? [];
    if (call === 'execve' && main === '') main = thread;
    if (SYNCS.split(',').includes(call)) calls.set(thread, (calls.get(thread) ?? 0) + 1);
  }
  return { main, calls };
}

test.skipIf(!HAS_STRACE)(
  'no fsync on the main thread, from start to stop, under load',
  async () => {
    const trace = join(bench.cluster.dir, 'strace.out');
    const calls = `trace=execve,${SYNCS}`;
    const wrap = ['strace', '-f', '--seccomp-bpf', '-qq', '-o', trace, '-e', calls];
    const holdfast = await bench.holdfast({ wrap, flags: FLAGS });
    const rolling = { rollingUpdate: { maxSurge: '50%', maxUnavailable: '50%' } };
    const strategy = { type: 'RollingUpdate', ...rolling };
    await bench.world.create(deployment(REPLICAS, { strategy, revisionHistoryLimit: 1 }));
    await bench.rolledOut(holdfast);
    let before = 0;
    let walBytes = 0;
    for (let version = 2; walBytes >= before && version < ROLLOUTS_MAX; version++) {
      const fields = { annotations: { padding: PADDING } };
      const spec = { template: template(`${version}`, fields) };
      await bench.world.merge('deployments', 'web', { spec });
      await bench.rolledOut(holdfast);
      before = walBytes;
      ({ walBytes } = await storeOf(holdfast));
    }
    // It was started anew, the one moment at which SQLite itself would sync in a writing commit.
    expect(walBytes).toBeLessThan(before);
    const { main } = traced(trace);
    process.kill(Number(main), 'SIGTERM');
    await eventually(() => !holdfast.running);
    const { calls: found } = traced(trace);
    expect(found.get(main) ?? 0).toBe(0);
    // Somebody syncs, or this test sees nothing.
    expect([...found.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(3);
  },
);
