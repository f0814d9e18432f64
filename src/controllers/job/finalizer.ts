/** Removing the tracking finalizer of a pod. */
import { isNotFound, isOtherObject } from '../../api/errors.ts';
import { JOB_TRACKING_FINALIZER } from '../../api/job.ts';
import { PODS } from '../../api/resource.ts';
import type { BecauseOptions, SyncRun } from '../../runtime/controller.ts';

/** What the patch names. */
export interface FinalizedPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/**
 * False if the pod is gone. With `resourceVersion` only a pod that is still in this version loses
 * it. Throws what else the API server answered.
 */
export async function removeFinalizer(
  run: SyncRun,
  { namespace, name, uid }: FinalizedPod,
  options: BecauseOptions,
  resourceVersion?: string,
): Promise<boolean> {
  const metadata = {
    uid,
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    '$deleteFromPrimitiveList/finalizers': [JOB_TRACKING_FINALIZER],
  };
  try {
    const patch = { ...options, metadataOnly: true };
    await run.client.patch(PODS, { namespace, name }, 'strategic', { metadata }, patch);
    return true;
  } catch (error) {
    if (isNotFound(error) || isOtherObject(error)) return false;
    throw error;
  }
}
