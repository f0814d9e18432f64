/** Jobs and pods for tests: plain good ones, changed by what a test gives. */
import { JOB_TRACKING_FINALIZER } from '../../../api/job.ts';
import { controllerReference } from '../../../api/meta.ts';
import { podRecordFields } from '../../../api/pod.ts';
import { JOBS } from '../../../api/resource.ts';
import { timeText } from '../../../api/time.ts';
import type { Job, JobSpec, JobStatus, ObjectMeta, Pod } from '../../../api/types/index.ts';
import type { JobPod } from '../actions.ts';

/** When tests take place, milliseconds; pods were created and ended an hour before. */
export const NOW = Date.parse('2026-11-30T12:00:00Z');
export const HOUR_AGO = NOW - 3_600_000;
export const LABELS = Object.freeze({ 'batch.kubernetes.io/controller-uid': 'uid-pi' });

/** What a test says about a Job. */
export interface JobFacts {
  readonly meta?: Partial<ObjectMeta>;
  readonly spec?: Partial<JobSpec>;
  readonly status?: JobStatus;
}

/** Job default/pi: 5 completions, 2 at a time, 6 failures allowed; it has not started yet. */
export function jobOf({ meta, spec, status }: JobFacts = {}): Job {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: 'pi',
      namespace: 'default',
      uid: 'uid-pi',
      resourceVersion: '7',
      generation: 1,
      creationTimestamp: timeText(HOUR_AGO),
      ...meta,
    },
    spec: {
      parallelism: 2,
      completions: 5,
      backoffLimit: 6,
      selector: { matchLabels: LABELS },
      template: {
        metadata: { labels: LABELS },
        spec: { restartPolicy: 'Never', containers: [{ name: 'pi', image: 'pi' }] },
      },
      ...spec,
    },
    status,
  };
}

/** As `jobOf`, with indexes. */
export function indexedJobOf({ spec, ...rest }: JobFacts = {}): Job {
  return jobOf({ ...rest, spec: { completionMode: 'Indexed', ...spec } });
}

/** What a test says about a pod. */
export interface PodFacts {
  readonly name?: string;
  readonly uid?: string;
  readonly phase?: string;
  readonly ready?: boolean;
  readonly node?: string;
  /** Completion index; a text stands in the annotation as it is. */
  readonly index?: number | string;
  /** Has the tracking finalizer; default true. */
  readonly tracked?: boolean;
  readonly deleting?: boolean;
  readonly orphan?: boolean;
  readonly restarts?: number;
  readonly createdAt?: number;
  readonly readySince?: number;
  /** Ended containers. */
  readonly exitCode?: number;
  readonly endedAt?: number;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  readonly version?: string;
}

/** A running pod of Job default/pi that is not ready. */
export function podOf(facts: PodFacts = {}): Pod {
  const { name = 'pi-a', phase = 'Running', tracked = true, index, ready = false } = facts;
  const { createdAt = HOUR_AGO, readySince = createdAt, exitCode, endedAt } = facts;
  const owner = controllerReference({ name: 'pi', uid: 'uid-pi' }, JOBS);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      uid: facts.uid ?? `uid-${name}`,
      resourceVersion: facts.version ?? '1',
      labels: LABELS,
      annotations: {
        ...(index === undefined ? {} : { 'batch.kubernetes.io/job-completion-index': `${index}` }),
        ...facts.annotations,
      },
      creationTimestamp: timeText(createdAt),
      ...(facts.deleting ? { deletionTimestamp: timeText(HOUR_AGO) } : {}),
      ...(tracked ? { finalizers: [JOB_TRACKING_FINALIZER] } : {}),
      ...(facts.orphan ? {} : { ownerReferences: [owner] }),
    },
    spec: { containers: [], nodeName: facts.node ?? 'node-1' },
    status: {
      phase,
      conditions: [
        {
          type: 'Ready',
          status: ready ? 'True' : 'False',
          lastTransitionTime: timeText(readySince),
        },
        ...(facts.conditions ?? []),
      ],
      containerStatuses: [
        {
          name: 'pi',
          image: 'pi',
          imageID: '',
          ready,
          restartCount: facts.restarts ?? 0,
          ...(exitCode === undefined && endedAt === undefined
            ? {}
            : {
                state: {
                  terminated: {
                    exitCode: exitCode ?? 0,
                    finishedAt: timeText(endedAt ?? HOUR_AGO),
                  },
                },
              }),
        },
      ],
    },
  };
}

/** `count` pods that are alike, named pi-PREFIX-0 and so on. */
export function podsOf(count: number, prefix: string, facts: PodFacts = {}): readonly Pod[] {
  return Array.from({ length: count }, (_, at) => podOf({ name: `pi-${prefix}-${at}`, ...facts }));
}

/** One pod for each [index, phase]. */
export function indexedPodsOf(
  ...pods: readonly (readonly [number | string, string])[]
): readonly Pod[] {
  return pods.map(([index, phase], at) => podOf({ name: `pi-${index}-${at}`, index, phase }));
}

/** The record of a pod of a Job, as decisions see it. */
export function recordOf(pod: Pod): JobPod {
  const record = podRecordFields(pod);
  if (record.job === undefined) throw new Error(`${record.key} belongs to no Job`);
  return { ...record, job: record.job };
}
