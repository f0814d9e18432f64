/** Runs one decision about a Job and keeps what it asked for; a test chooses the answers. */
import type { Job, JobStatus, Pod } from '../../../api/types/index.ts';
import type { Action, Answer, Count, JobEvent, NewPod, Steps, Victim } from '../actions.ts';
import { type Backoff, NO_BACKOFF } from '../backoff.ts';
import type { Observed } from '../counts.ts';
import { decide, type JobConfig } from '../decide.ts';
import { failureFacts } from '../facts.ts';
import { NOW, recordOf } from './build.ts';

/** What a test may set. */
export interface PlanOptions {
  readonly satisfied?: boolean;
  readonly backoff?: Backoff;
  readonly untracked?: readonly string[];
  readonly announced?: readonly string[];
  readonly now?: number;
  readonly config?: JobConfig;
  /** Every call about a pod fails with this error. */
  readonly podError?: Error;
  /** So many pods can be created; the call after that fails. */
  readonly podLimit?: number;
  /** Status write number n (from 1) is refused with this error. */
  readonly refuseStatus?: { readonly write: number; readonly error: Error };
}

/** What a decision asked for. */
export interface Plan {
  readonly actions: readonly Action[];
  readonly created: readonly NewPod[];
  /** Completion indexes of created pods. */
  readonly indexes: readonly number[];
  /** Pods deleted with their finalizers kept, and without. */
  readonly stopped: readonly Victim[];
  readonly dropped: readonly Victim[];
  /** Names of pods that lost their finalizers because they are counted or no longer needed. */
  readonly released: readonly string[];
  /** Every status that was to be written; the last one. */
  readonly statuses: readonly JobStatus[];
  readonly status: JobStatus | undefined;
  /** "Type=Status Reason" of the last status. */
  readonly conditions: readonly string[];
  readonly events: readonly JobEvent[];
  readonly counts: readonly Count[];
  readonly again: number | undefined;
  readonly remembered: Backoff | undefined;
  readonly finished: boolean;
  readonly error: unknown;
}

/** What a decision looks at. */
export function observedOf(job: Job, pods: readonly Pod[], options: PlanOptions = {}): Observed {
  return {
    job,
    pods: pods.map(recordOf),
    failures: new Map(pods.map((pod) => [pod.metadata.uid, failureFacts(pod)])),
    untracked: new Set(options.untracked),
    announced: new Set(options.announced),
    satisfied: options.satisfied ?? true,
    backoff: options.backoff ?? NO_BACKOFF,
  };
}

/** One sync of a Job with these pods. */
export function planOf(job: Job, pods: readonly Pod[], options: PlanOptions = {}): Plan {
  const { now = NOW, config = { clearStartTime: true } } = options;
  const steps = decide(observedOf(job, pods, options), now, config);
  const actions: Action[] = [];
  const error = play(steps, actions, options);
  const of = <K extends Action['kind']>(kind: K) =>
    actions.filter((action): action is Extract<Action, { kind: K }> => action.kind === kind);
  const created = of('createPods').flatMap((action) => action.pods);
  const statuses = of('writeStatus').map((action) => action.job.status ?? {});
  const status = statuses.at(-1);
  const wishes = of('again').map(({ delayMs }) => delayMs);
  return {
    actions,
    created,
    indexes: created.map(({ slot }) => Number(slot)),
    stopped: of('stopPods').flatMap((action) => action.pods),
    dropped: of('dropPods').flatMap((action) => action.pods),
    released: of('removeFinalizers').flatMap((action) => action.pods.map(({ name }) => name)),
    statuses,
    status,
    conditions: (status?.conditions ?? []).map((one) => `${one.type}=${one.status} ${one.reason}`),
    events: of('event').map((action) => action.event),
    counts: of('count').map((action) => action.count),
    again: wishes.length === 0 ? undefined : Math.min(...wishes),
    remembered: of('remember').at(-1)?.backoff,
    finished: of('finished').length > 0,
    error,
  };
}

function play(steps: Steps<void>, actions: Action[], options: PlanOptions): unknown {
  let writes = 0;
  try {
    let step = steps.next();
    while (!step.done) {
      const action = step.value;
      actions.push(action);
      const { write, error } = options.refuseStatus ?? {};
      if (action.kind === 'writeStatus' && ++writes === write) step = steps.throw(error);
      else step = steps.next(answerTo(action, options));
    }
    return undefined;
  } catch (error) {
    const planned = [options.podError, options.refuseStatus?.error].includes(error as Error);
    if (planned || error instanceof TooMany) return error;
    throw error;
  }
}

function answerTo(action: Action, { podError, podLimit }: PlanOptions): Answer {
  switch (action.kind) {
    case 'createPods': {
      const count = podError === undefined ? Math.min(action.pods.length, podLimit ?? 1e9) : 0;
      const cut = count < action.pods.length;
      const error = podError ?? (cut ? new TooMany() : undefined);
      return { count, refused: 0, failed: cut ? 1 : 0, error };
    }
    case 'stopPods':
    case 'dropPods': {
      const ready = action.pods.filter(({ pod }) => pod.ready).length;
      return podError === undefined
        ? { count: action.pods.length, ready }
        : { count: 0, ready: action.kind === 'stopPods' ? ready : 0, error: podError };
    }
    case 'removeFinalizers':
      return podError === undefined
        ? { uids: new Set(action.pods.map(({ uid }) => uid)) }
        : { uids: new Set(), error: podError };
    case 'writeStatus':
      return action.job;
    default:
      return undefined;
  }
}

/** The limit of a test is reached. */
class TooMany extends Error {}
