/** What a failed pod says about its failure, read once for each version of the pod. */
import { parseInt64 } from '../../api/integer.ts';
import type { ContainerStatus, Job, Pod } from '../../api/types/index.ts';
import type { Lister, PodRecord } from '../../runtime/informer/types.ts';
import { JOB_FAILURE_FACTS_MAX } from '../../runtime/limits.ts';
import { Lru } from '../../runtime/lru.ts';
import type { JobPod } from './actions.ts';
import { isPodFailed } from './counts.ts';
import type { FailureFacts } from './pod-failure-policy.ts';
import { limitsPerIndex } from './spec.ts';
import { FAILURE_COUNT, IGNORED_FAILURE_COUNT } from './template.ts';

const INT32_MAX = 2n ** 31n - 1n;

/** The facts of a whole pod. */
export function failureFacts(pod: Pod): FailureFacts {
  const { containerStatuses = [], initContainerStatuses = [], conditions = [] } = pod.status ?? {};
  const { annotations } = pod.metadata;
  return {
    exits: [...containerStatuses, ...initContainerStatuses].flatMap(failedExit),
    conditions: conditions.map(({ type, status }) => ({ type, status })),
    failureCount: countOf(annotations?.[FAILURE_COUNT]),
    ignoredCount: countOf(annotations?.[IGNORED_FAILURE_COUNT]),
  };
}

function failedExit({ name, state }: ContainerStatus): FailureFacts['exits'] {
  const code = state?.terminated?.exitCode ?? 0;
  return code === 0 ? [] : [{ container: name, code }];
}

/** A count in an annotation; 0 for anything that none of us wrote. */
function countOf(text: string | undefined): number {
  const count = parseInt64(text ?? '');
  return count === undefined || count < 0n || count > INT32_MAX ? 0 : Number(count);
}

/** Reads whole pods where a decision needs more than their records. */
export class FailureReader {
  readonly #pods: Lister<Pod, PodRecord>;
  readonly #known = new Lru<string, { readonly version: string; readonly facts: FailureFacts }>(
    JOB_FAILURE_FACTS_MAX,
  );

  constructor(pods: Lister<Pod, PodRecord>) {
    this.#pods = pods;
  }

  /**
   * The facts of those pods whose failure this Job has to judge, by UID: with a policy all that
   * failed or may be counted as failed, with limits per index those that failed and aren't counted.
   */
  of(job: Job, pods: readonly JobPod[]): ReadonlyMap<string, FailureFacts> {
    const facts = new Map<string, FailureFacts>();
    const hasPolicy = job.spec?.podFailurePolicy !== undefined;
    if (!hasPolicy && !limitsPerIndex(job)) return facts;
    for (const pod of pods) {
      const failed = isPodFailed(pod, job);
      const needed = hasPolicy ? failed || pod.job.tracked : failed && pod.job.tracked;
      const found = needed ? this.#read(pod) : undefined;
      if (found !== undefined) facts.set(pod.uid, found);
    }
    return facts;
  }

  #read({ key, uid, resourceVersion: version }: JobPod): FailureFacts | undefined {
    const known = this.#known.get(uid);
    if (known?.version === version) return known.facts;
    const pod = this.#pods.get(key);
    if (pod?.metadata.uid !== uid) return undefined;
    const facts = failureFacts(pod);
    this.#known.set(uid, { version, facts });
    return facts;
  }
}
