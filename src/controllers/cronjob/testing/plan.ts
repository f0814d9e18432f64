/** Runs one decision about a CronJob and keeps what it asked for; a test chooses the answers. */
import type { ApiError } from '../../../api/errors.ts';
import type { CronJob, CronJobStatus, Job } from '../../../api/types/index.ts';
import { openZones } from '../../../api/zone.ts';
import { refusal } from '../../_kit/testing/fake-run.ts';
import type { Action, CronEvent, NewJob } from '../actions.ts';
import { decide } from '../decide.ts';
import { TEN } from './build.ts';

/** What a test may set. */
export interface CronPlanOptions {
  readonly jobs?: readonly Job[];
  /** Jobs as the server has them; default: those of the cache. */
  readonly stored?: readonly Job[];
  /** The CronJob as the server has it; default: that of the cache. */
  readonly storedCronJob?: CronJob;
  readonly createError?: ApiError;
  readonly deleteError?: ApiError;
  readonly getError?: ApiError;
  readonly statusError?: ApiError;
  /** Zone of the process; default UTC. */
  readonly zone?: string;
}

/** What a decision asked for. */
export interface CronPlan {
  readonly actions: readonly Action[];
  readonly created: readonly NewJob[];
  readonly deleted: readonly string[];
  readonly events: readonly CronEvent[];
  readonly status: CronJobStatus | undefined;
  /** Names of active Jobs in the written status. */
  readonly active: readonly string[] | undefined;
  readonly again: number | undefined;
  readonly skews: readonly number[];
  readonly error: unknown;
}

/** One sync of a CronJob at `now` (ms). */
export function cronPlan(cronJob: CronJob, now = TEN, options: CronPlanOptions = {}): CronPlan {
  const { jobs = [], zone = 'UTC' } = options;
  const steps = decide({ cronJob, jobs }, now, { zones: openZones(zone) });
  const actions: Action[] = [];
  let error: unknown;
  try {
    let step = steps.next();
    while (!step.done) {
      const action = step.value;
      actions.push(action);
      const refused = refusalOf(action, options);
      step =
        refused === undefined
          ? steps.next(answerTo(action, cronJob, options))
          : steps.throw(refused);
    }
  } catch (thrown) {
    error = thrown;
  }
  const of = <K extends Action['kind']>(kind: K) =>
    actions.filter((action): action is Extract<Action, { kind: K }> => action.kind === kind);
  const status = of('writeStatus').at(-1)?.cronJob.status;
  return {
    actions,
    created: of('createJob').map(({ job }) => job),
    deleted: of('deleteJob').map(({ job }) => job.metadata.name),
    events: of('event').map(({ event }) => event),
    status,
    active: status && (status.active ?? []).map(({ name = '' }) => name),
    again: of('again').at(-1)?.delayMs,
    skews: of('skew').map(({ seconds }) => seconds),
    error,
  };
}

function refusalOf(action: Action, options: CronPlanOptions): ApiError | undefined {
  const { createError, deleteError, getError, statusError } = options;
  if (action.kind === 'createJob') return createError;
  if (action.kind === 'deleteJob') return deleteError;
  if (action.kind === 'writeStatus') return statusError;
  if (action.kind === 'readCronJob') return getError;
  if (action.kind !== 'readJob') return undefined;
  if (getError !== undefined) return getError;
  const stored = options.stored ?? options.jobs ?? [];
  const found = stored.some(({ metadata }) => metadata.name === action.name);
  return found ? undefined : refusal(404, 'NotFound', `jobs.batch "${action.name}" not found`);
}

function answerTo(
  action: Action,
  cronJob: CronJob,
  options: CronPlanOptions,
): CronJob | Job | undefined {
  if (action.kind === 'readCronJob') return options.storedCronJob ?? cronJob;
  if (action.kind === 'readJob') {
    const stored = options.stored ?? options.jobs ?? [];
    return stored.find(({ metadata }) => metadata.name === action.name);
  }
  if (action.kind !== 'createJob') return undefined;
  const { job } = action;
  const made = { uid: `uid-${job.metadata.name}`, resourceVersion: '5' };
  const creationTimestamp = new Date(TEN + 3_000).toISOString();
  return { ...job, metadata: { ...job.metadata, ...made, creationTimestamp } } as Job;
}
