/** The pods that a Job creates. */
import { COMPLETION_INDEX, JOB_TRACKING_FINALIZER } from '../../api/job.ts';
import { generateNameFor } from '../../api/meta.ts';
import type { Container, Job, Pod, PodTemplateSpec } from '../../api/types/index.ts';
import type { JobPod, NewPod } from './actions.ts';
import { judge, type Observed } from './counts.ts';
import { limitsPerIndex } from './spec.ts';

/** Failures of an index before a pod that count towards its limit; an annotation. */
export const FAILURE_COUNT = 'batch.kubernetes.io/job-index-failure-count';
/** Failures of an index before a pod that a policy ignored; an annotation. */
export const IGNORED_FAILURE_COUNT = 'batch.kubernetes.io/job-index-ignored-failure-count';

const INDEX_VARIABLE = 'JOB_COMPLETION_INDEX';
/** What a name prefix is cut to by the server, five characters short of a label. */
const PREFIX_LENGTH_MAX = 58;
/** Slot of a pod that may stand for any other of its Job. */
const ANY = 'pod';

/** `count` pods of a Job without indexes. */
export function plainPods(job: Job, count: number, because: string): readonly NewPod[] {
  const pod: NewPod = {
    template: withFinalizer(templateOf(job)),
    generateName: generateNameFor(job.metadata.name),
    slot: ANY,
    because,
  };
  return Array.from({ length: count }, () => pod);
}

/** One pod for each index; `replaced` are the failed pods whose places they take, by index. */
export function indexedPods(
  observed: Observed,
  indexes: readonly number[],
  replaced: ReadonlyMap<number, JobPod>,
  because: string,
): readonly NewPod[] {
  const { job } = observed;
  const template = withFinalizer(withIndexVariable(templateOf(job)));
  return indexes.map((index) => {
    const counts = limitsPerIndex(job) ? failureCounts(observed, replaced.get(index)) : {};
    return {
      template: forIndex(template, job.metadata.name, index, counts),
      generateName: indexedPrefix(job.metadata.name, index),
      slot: `${index}`,
      because: `${because} (index ${index})`,
    };
  });
}

/** What a pod of a Job was made for: its index, or any place of a Job without indexes. */
export function slotOf({ metadata }: Pod): string {
  return metadata.annotations?.[COMPLETION_INDEX] ?? ANY;
}

/** "job-3-", the name cut so that the index stays whole. */
export function indexedPrefix(jobName: string, index: number): string {
  const ending = `-${index}-`;
  return jobName.slice(0, Math.max(0, PREFIX_LENGTH_MAX - ending.length)) + ending;
}

function templateOf(job: Job): PodTemplateSpec {
  return job.spec?.template ?? {};
}

function withFinalizer(template: PodTemplateSpec): PodTemplateSpec {
  const { finalizers = [] } = template.metadata ?? {};
  if (finalizers.includes(JOB_TRACKING_FINALIZER)) return template;
  const metadata = { ...template.metadata, finalizers: [...finalizers, JOB_TRACKING_FINALIZER] };
  return { ...template, metadata };
}

function forIndex(
  template: PodTemplateSpec,
  jobName: string,
  index: number,
  counts: Readonly<Record<string, string>>,
): PodTemplateSpec {
  const { metadata, spec } = template;
  const own = { [COMPLETION_INDEX]: `${index}` };
  return {
    ...template,
    metadata: {
      ...metadata,
      labels: { ...metadata?.labels, ...own },
      annotations: { ...metadata?.annotations, ...own, ...counts },
    },
    ...(spec === undefined ? {} : { spec: { ...spec, hostname: `${jobName}-${index}` } }),
  };
}

function withIndexVariable(template: PodTemplateSpec): PodTemplateSpec {
  const { spec } = template;
  if (spec === undefined) return template;
  const { initContainers } = spec;
  return {
    ...template,
    spec: {
      ...spec,
      ...(initContainers === undefined ? {} : { initContainers: initContainers.map(withVariable) }),
      containers: spec.containers.map(withVariable),
    },
  };
}

function withVariable<C extends Container>(container: C): C {
  const { env = [] } = container;
  if (env.some(({ name }) => name === INDEX_VARIABLE)) return container;
  const fieldRef = { fieldPath: `metadata.labels['${COMPLETION_INDEX}']` };
  return { ...container, env: [...env, { name: INDEX_VARIABLE, valueFrom: { fieldRef } }] };
}

/** The annotations of a replacement: the failures of the pod before it, and that pod's own. */
function failureCounts(
  observed: Observed,
  replaced: JobPod | undefined,
): Readonly<Record<string, string>> {
  const facts = replaced && observed.failures.get(replaced.uid);
  const ownCounts = replaced !== undefined && judge(observed, replaced).counted;
  const ownIgnored = replaced !== undefined && !ownCounts;
  const counted = (facts?.failureCount ?? 0) + Number(ownCounts);
  const ignored = (facts?.ignoredCount ?? 0) + Number(ownIgnored);
  return {
    [FAILURE_COUNT]: `${counted}`,
    ...(ignored > 0 ? { [IGNORED_FAILURE_COUNT]: `${ignored}` } : {}),
  };
}
