/** Deleting a pod by force: it is marked as failed first, so that its end can be counted. */
import { FencedError, isConflict, isNotFound, isOtherObject } from '../../api/errors.ts';
import { PODS } from '../../api/resource.ts';
import { timeText } from '../../api/time.ts';
import type { Pod, PodCondition } from '../../api/types/index.ts';
import type { SyncRun } from '../../runtime/controller.ts';
import type { Lister, PodRecord } from '../../runtime/informer/types.ts';
import { POD_DELETES_AT_ONCE } from '../../runtime/limits.ts';
import type { Logger } from '../../runtime/log.ts';
import { conditionsPatch } from '../_kit/conditions-patch.ts';
import { whole } from '../_kit/whole.ts';
import type { Victim } from './decide.ts';
import type { Counts, Reason } from './metrics.ts';

const ORPHANED: Omit<PodCondition, 'observedGeneration' | 'lastTransitionTime'> = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'DeletionByPodGC',
  message: 'PodGC: node no longer exists',
};

export interface RemoverDeps {
  readonly pods: Lister<Pod, PodRecord>;
  readonly counts: Counts;
  readonly log: Logger;
}

/** Marks and deletes pods; one that fails harms no other. */
export class Remover {
  readonly #deps: RemoverDeps;

  constructor(deps: RemoverDeps) {
    this.#deps = deps;
  }

  /** All of them, some at a time. Throws only if this process may not write any more. */
  async removeAll(run: SyncRun, victims: readonly Victim[], reason: Reason): Promise<void> {
    const waiting = [...victims].reverse();
    const worker = async (): Promise<void> => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        await this.#remove(run, next, reason);
      }
    };
    const workers = Math.min(POD_DELETES_AT_ONCE, victims.length);
    await Promise.all(Array.from({ length: workers }, worker));
  }

  async #remove(run: SyncRun, victim: Victim, reason: Reason): Promise<void> {
    const { counts, log } = this.#deps;
    const { namespace, key } = victim.pod;
    counts.tried(namespace, reason);
    try {
      await this.#markAndDelete(run, victim, reason);
    } catch (error) {
      if (error instanceof FencedError) throw error;
      if (isNotFound(error) || isOtherObject(error)) return;
      log.error('Failed to delete a pod by force', error, { pod: key, reason });
      counts.failed(namespace, reason);
    }
  }

  async #markAndDelete(
    run: SyncRun,
    { pod: record, because }: Victim,
    reason: Reason,
  ): Promise<void> {
    const { namespace, name, uid, key, phase } = record;
    if (phase !== 'Succeeded' && phase !== 'Failed') {
      const pod = await whole<Pod, PodRecord>(run, PODS, this.#deps.pods, key);
      if (pod?.metadata.uid !== uid) return;
      const at = { namespace, name, subresource: 'status' };
      const body = failedStatus(pod, reason === 'orphaned', run.now);
      await run.client.patch(PODS, at, 'strategic', body, { because, metadataOnly: true });
    }
    try {
      await run.client.delete(PODS, { namespace, name }, { uid, gracePeriodSeconds: 0, because });
    } catch (error) {
      // A conflict means that another pod has this name now: the one meant is gone.
      if (!isConflict(error)) throw error;
    }
  }
}

/** The patch of a status: phase Failed, and for an orphan what disrupted it. `now` in ms. */
export function failedStatus({ metadata, status }: Pod, orphaned: boolean, now: number): object {
  const { uid, generation } = metadata;
  const former = status?.conditions?.find(({ type }) => type === ORPHANED.type);
  const lastTransitionTime =
    former?.status === ORPHANED.status ? former.lastTransitionTime : timeText(now);
  const condition = { ...ORPHANED, lastTransitionTime, observedGeneration: generation };
  const conditions = orphaned ? conditionsPatch(status?.conditions, [condition]) : {};
  return {
    metadata: { uid },
    status: { phase: 'Failed', observedGeneration: generation, ...conditions },
  };
}
