/** From the caches to what a decision looks at, and to what claiming looks at. */
import { NO_INDEX, ownedPodFields } from '../../api/job.ts';
import { compileSelector, repeatedMatch } from '../../api/selector.ts';
import type { Job, Pod } from '../../api/types/index.ts';
import { type ClaimOwner, type Claims, decideClaims } from '../../runtime/claim.ts';
import type { JobRecord, Lister, PodRecord } from '../../runtime/informer/types.ts';
import type { JobPod } from './actions.ts';

const NOTHING_KNOWN = { index: NO_INDEX, endedAt: 0, restarts: 0 };

/** The caches a sync reads. */
export interface JobCaches {
  readonly jobs: Lister<Job, JobRecord>;
  readonly pods: Lister<Pod, PodRecord>;
}

/** What there is to claim for a Job. */
export interface ClaimView {
  readonly owner: ClaimOwner;
  readonly selectorText: string;
  readonly claims: Claims<PodRecord>;
}

/** Pods it controls or may adopt. Throws if its selector is invalid. */
export function observeClaims({ pods }: JobCaches, job: Job): ClaimView {
  const { namespace = '', name, uid, deletionTimestamp } = job.metadata;
  const { selector, problem } = compileSelector(job.spec?.selector);
  if (selector === undefined) throw new Error(`couldn't convert Job selector: ${problem}`);
  const owner = { namespace, name, uid, deleting: deletionTimestamp !== undefined };
  const owned = pods.controlledBy(uid).filter(({ controller }) => controller?.name === name);
  const candidates = [...owned, ...pods.orphans(namespace)];
  const matches = repeatedMatch(selector);
  const claims = decideClaims({ owner, matches, candidates });
  return { owner, selectorText: selector.text, claims };
}

/** The pods of a Job; one that was adopted just now has the finalizer that came with it. */
export function asJobPods({ pods }: JobCaches, claimed: readonly PodRecord[]): readonly JobPod[] {
  return claimed.map((record) => {
    if (isJobPod(record)) return record;
    const whole = pods.get(record.key);
    const fields = whole === undefined ? NOTHING_KNOWN : ownedPodFields(whole);
    return { ...record, job: { ...fields, tracked: true } };
  });
}

function isJobPod(record: PodRecord): record is JobPod {
  return record.job !== undefined && record.controller !== undefined;
}
