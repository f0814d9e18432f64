/** One Job, default/pi, under the whole controller over fakes: caches in, writes out. */
import { JOBS } from '../../../api/resource.ts';
import type { Job, Pod } from '../../../api/types/index.ts';
import type { JobRecord } from '../../../runtime/informer/types.ts';
import { fakeContext } from '../../_kit/testing/fake-context.ts';
import type { FakeQueue } from '../../_kit/testing/fake-ports.ts';
import { FakeRun } from '../../_kit/testing/fake-run.ts';
import { jobController } from '../index.ts';
import { NOW } from './build.ts';

export const KEY = 'default/pi';

/** The controller over a Job and pods that the caches have from the start. */
export function setUp(
  job: Job | undefined,
  pods: readonly Pod[] = [],
  gatesOff: readonly string[] = [],
) {
  const fakes = fakeContext({ now: NOW, flags: { 'concurrent-job-syncs': 5 }, gatesOff });
  const jobs = fakes.informers.of<Job, JobRecord>(JOBS);
  if (job !== undefined) jobs.put(job);
  fakes.informers.pods().put(...pods);
  const built = jobController.build(fakes.context);
  const [syncs, orphanSyncs] = built?.queues ?? [];
  if (syncs === undefined || orphanSyncs === undefined) throw new Error('two queues are needed');
  const run = new FakeRun(NOW);
  if (job !== undefined) run.live(JOBS, job);
  return {
    ...fakes,
    jobs,
    pods: fakes.informers.pods(),
    run,
    syncs,
    queue: syncs.queue as FakeQueue,
    orphans: orphanSyncs.queue as FakeQueue,
    sync: () => syncs.reconcile(KEY, run),
    syncOrphan: (key: string) => orphanSyncs.reconcile(key, run),
    statuses: () => run.writes.filter(({ resource }) => resource === 'jobs.batch/status'),
    patches: () => run.writes.filter(({ verb }) => verb === 'patch'),
  };
}
