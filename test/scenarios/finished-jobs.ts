/** What becomes of Jobs after they finished. */
import type { Fields, Scenario, World } from './world.ts';

const HOLD = 'example.com/hold';

function job(name: string, ttl: number | undefined, metadata: Fields = {}): Fields {
  const spec = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, ...metadata },
    spec: { ttlSecondsAfterFinished: ttl, suspend: false, template: { spec } },
  };
}

/** Says that a Job has finished, as the job controller would. */
async function finish(world: World, name: string, type: 'Complete' | 'Failed'): Promise<void> {
  const at = new Date().toISOString().replace(/\.\d+/, '');
  const said = (one: string) => ({
    type: one,
    status: 'True',
    reason: 'Test',
    message: '',
    lastProbeTime: at,
    lastTransitionTime: at,
  });
  const first = type === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget';
  const ended = type === 'Complete' ? { completionTime: at, succeeded: 1 } : { failed: 1 };
  const status = { startTime: at, conditions: [said(first), said(type)], ...ended };
  await world.api.patchStatus('jobs', world.namespace, name, status);
}

async function untilGone(world: World, name: string): Promise<void> {
  const isGone = (jobs: { metadata: { name: string } }[]) =>
    !jobs.some(({ metadata }) => metadata.name === name);
  await world.untilList('jobs', isGone, `job ${name} gone`);
}

export const FINISHED_JOBS: readonly Scenario[] = [
  {
    name: 'a complete Job goes at once with a TTL of 0',
    async play(world) {
      await world.create(job('now', 0));
      await finish(world, 'now', 'Complete');
      await untilGone(world, 'now');
    },
  },
  {
    name: 'a failed Job goes after its TTL, and one without stays',
    async play(world) {
      await world.create(job('soon', 2));
      await world.create(job('stays', undefined));
      await finish(world, 'stays', 'Failed');
      await finish(world, 'soon', 'Failed');
      await untilGone(world, 'soon');
    },
  },
  {
    name: 'a TTL may be given after the end',
    async play(world) {
      await world.create(job('late', undefined));
      await finish(world, 'late', 'Complete');
      await world.merge('jobs', 'late', { spec: { ttlSecondsAfterFinished: 1 } });
      await untilGone(world, 'late');
    },
  },
  {
    name: 'a TTL that is raised in time keeps the Job',
    async play(world) {
      await world.create(job('kept', 5));
      await world.create(job('clock', 6));
      await finish(world, 'kept', 'Complete');
      await finish(world, 'clock', 'Complete');
      await world.merge('jobs', 'kept', { spec: { ttlSecondsAfterFinished: 600 } });
      await untilGone(world, 'clock');
    },
  },
  {
    name: 'a Job goes in the foreground: after the pods it still has',
    async play(world) {
      const owner = await world.create(job('front', 0));
      const reference = {
        apiVersion: 'batch/v1',
        kind: 'Job',
        name: 'front',
        uid: owner.metadata.uid,
        blockOwnerDeletion: true,
      };
      await world.create({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'held', ownerReferences: [reference], finalizers: [HOLD] },
      });
      await finish(world, 'front', 'Complete');
      const isGoing = ({ metadata }: { metadata: Fields }) =>
        metadata.deletionTimestamp !== undefined;
      await world.until('configmaps', 'held', isGoing);
    },
  },
];
