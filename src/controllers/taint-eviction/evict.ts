/** Evicting one pod: it is told why in its status, then deleted. */
import { FencedError, isDefiniteAnswer, isNotFound } from '../../api/errors.ts';
import { splitKey } from '../../api/meta.ts';
import { PODS } from '../../api/resource.ts';
import { timeText } from '../../api/time.ts';
import type { Pod, PodCondition } from '../../api/types/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { SyncRun } from '../../runtime/controller.ts';
import { conditionsPatch } from '../_kit/conditions-patch.ts';

const TRIES = 5;
const BETWEEN_TRIES_MS = 10;

const EVICTED: Omit<PodCondition, 'observedGeneration' | 'lastTransitionTime'> = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'DeletionByTaintManager',
  message: 'Taint manager: deleting due to NoExecute taint',
};

/** Which pod, and why. */
export interface Victim {
  readonly key: string;
  readonly uid: string;
  readonly because: string;
}

/**
 * Gives false if the pod is gone or another one of its name is there. Throws the last error when
 * five tries have failed, and at once if this process may not write.
 */
export async function evict(
  run: SyncRun,
  victim: Victim,
  clock: Pick<Clock, 'sleep' | 'now'>,
): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    try {
      return await markAndDelete(run, victim, clock.now());
    } catch (error) {
      if (isNotFound(error)) return false;
      if (error instanceof FencedError || tries === TRIES || run.signal.aborted) throw error;
    }
    await clock.sleep(BETWEEN_TRIES_MS, run.signal);
  }
}

/** True if the server has decided, so that trying again later gives the same. */
export function isFinal(error: unknown): boolean {
  return isDefiniteAnswer(error);
}

async function markAndDelete(run: SyncRun, victim: Victim, now: number): Promise<boolean> {
  const { key, uid, because } = victim;
  const at = splitKey(key);
  const pod = await run.client.get<Pod>(PODS, at);
  if (pod.metadata.uid !== uid) return false;
  const body = markedStatus(pod, now);
  if (body !== undefined) {
    const status = { ...at, subresource: 'status' };
    await run.client.patch(PODS, status, 'strategic', body, { because, metadataOnly: true });
  }
  await run.client.delete(PODS, at, { uid, because });
  return true;
}

/** The patch that says why the pod goes; undefined if it says so already. `now` in ms. */
export function markedStatus({ metadata, status }: Pod, now: number): object | undefined {
  const former = status?.conditions?.find(({ type }) => type === EVICTED.type);
  const { uid, generation: observedGeneration } = metadata;
  const isSame = former?.status === EVICTED.status;
  if (isSame && former.reason === EVICTED.reason && former.message === EVICTED.message) {
    return undefined;
  }
  const lastTransitionTime = isSame ? former.lastTransitionTime : timeText(now);
  const condition = { ...EVICTED, lastTransitionTime, observedGeneration };
  return { metadata: { uid }, status: conditionsPatch(status?.conditions, [condition]) };
}
