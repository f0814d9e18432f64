/** Pods that keep the tracking finalizer although no Job will ever count them: it is removed. */
import { controllerOf, keyOf } from '../../api/meta.ts';
import { apiVersionOf, JOBS } from '../../api/resource.ts';
import type { Pod } from '../../api/types/index.ts';
import type { SyncRun } from '../../runtime/controller.ts';
import { removeFinalizer } from './finalizer.ts';
import type { JobCaches } from './observe.ts';
import { managedByOther } from './spec.ts';

/**
 * Looks at one pod: without a controller, or with one that is a Job which is gone or has ended, it
 * loses the finalizer. A pod of another kind of controller, or of a Job that somebody else manages,
 * is left alone.
 */
export async function syncOrphan(caches: JobCaches, key: string, run: SyncRun): Promise<void> {
  if (!caches.pods.record(key)?.job?.tracked) return;
  const pod = caches.pods.get(key);
  const because = pod && orphanedBecause(caches, pod);
  if (pod === undefined || because === undefined) return;
  const { namespace = '', name, uid } = pod.metadata;
  await removeFinalizer(run, { namespace, name, uid }, { because });
}

/** Why nobody will count the pod; undefined if somebody may. */
function orphanedBecause({ jobs }: JobCaches, pod: Pod): string | undefined {
  const controller = controllerOf(pod);
  if (controller === undefined) return 'the pod has no controller that would count it';
  const { apiVersion, kind, name, uid } = controller;
  if (kind !== JOBS.kind || apiVersion !== apiVersionOf(JOBS)) return undefined;
  const job = jobs.record(keyOf({ namespace: pod.metadata.namespace, name }));
  if (job?.uid !== uid) return `Job ${name} is gone`;
  if (managedByOther(job.managedBy) !== undefined || job.finished === '') return undefined;
  return `Job ${name} has ended: ${job.finished}`;
}
