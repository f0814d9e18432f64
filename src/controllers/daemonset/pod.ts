/** The pods of a DaemonSet: how they are made, and how they are told apart. */
import { NODE_NAME_FIELD } from '../../api/affinity.ts';
import { parseInt64 } from '../../api/integer.ts';
import type { StringMap } from '../../api/meta.ts';
import {
  TAINT_DISK_PRESSURE,
  TAINT_MEMORY_PRESSURE,
  TAINT_NETWORK_UNAVAILABLE,
  TAINT_NOT_READY,
  TAINT_PID_PRESSURE,
  TAINT_UNREACHABLE,
  TAINT_UNSCHEDULABLE,
} from '../../api/taint.ts';
import type {
  Affinity,
  DaemonSet,
  Pod,
  PodSpec,
  PodTemplateSpec,
  Toleration,
} from '../../api/types/index.ts';
import type { PodRecord } from '../../runtime/informer/types.ts';

/** Label with the hash of the revision that a pod, or a revision itself, is of. */
export const HASH_LABEL = 'controller-revision-hash';
const GENERATION_LABEL = 'pod-template-generation';
const GENERATION_ANNOTATION = 'deprecated.daemonset.template.generation';

/** A pod of the set and the node it runs on, or is made for. */
export interface DaemonPod {
  readonly record: PodRecord;
  readonly node: string;
  /** Being deleted, or announced to be. */
  readonly deleting: boolean;
  /** Announced to be deleted, and nothing shows yet that the server knows. */
  readonly unanswered?: boolean;
}

/** The set's own pod template. */
export function templateOf({ spec }: DaemonSet): PodTemplateSpec {
  return spec?.template ?? {};
}

/** Seconds for which a pod has to be ready to count as available. */
export function minReadySecondsOf({ spec }: DaemonSet): number {
  return spec?.minReadySeconds ?? 0;
}

/** Number of the template, kept in an annotation since the first API; undefined if unreadable. */
export function generationOf({ metadata }: DaemonSet): bigint | undefined {
  return parseInt64(metadata.annotations?.[GENERATION_ANNOTATION] ?? '');
}

/** True if the pod is of the current template: by the hash, or by the old number. */
export function isUpdated(pod: DaemonPod, set: DaemonSet, hash: string): boolean {
  const { labels } = pod.record;
  const generation = generationOf(set);
  const byNumber = generation !== undefined && labels[GENERATION_LABEL] === String(generation);
  return byNumber || (hash !== '' && labels[HASH_LABEL] === hash);
}

function exists(key: string, effect: string): Toleration {
  return { key, operator: 'Exists', effect };
}

const ALWAYS_TOLERATED: readonly Toleration[] = [
  exists(TAINT_NOT_READY, 'NoExecute'),
  exists(TAINT_UNREACHABLE, 'NoExecute'),
  exists(TAINT_DISK_PRESSURE, 'NoSchedule'),
  exists(TAINT_MEMORY_PRESSURE, 'NoSchedule'),
  exists(TAINT_PID_PRESSURE, 'NoSchedule'),
  exists(TAINT_UNSCHEDULABLE, 'NoSchedule'),
];
const ON_HOST_NETWORK = exists(TAINT_NETWORK_UNAVAILABLE, 'NoSchedule');

/** The same taints are meant; how long they are tolerated is left out. */
function sameToleration(a: Toleration, b: Toleration): boolean {
  return (
    (a.key ?? '') === (b.key ?? '') &&
    (a.effect ?? '') === (b.effect ?? '') &&
    (a.operator ?? '') === (b.operator ?? '') &&
    (a.value ?? '') === (b.value ?? '')
  );
}

/** The tolerations of the template and those that every daemon pod has, without any end. */
export function daemonTolerations(spec: PodSpec | undefined): readonly Toleration[] {
  const own = spec?.tolerations ?? [];
  const added = spec?.hostNetwork ? [...ALWAYS_TOLERATED, ON_HOST_NETWORK] : ALWAYS_TOLERATED;
  const kept = own.map(
    (toleration) => added.find((one) => sameToleration(one, toleration)) ?? toleration,
  );
  return [
    ...kept,
    ...added.filter((one) => !own.some((toleration) => sameToleration(one, toleration))),
  ];
}

/** The template of new pods: labels of revision and number, tolerations; not yet for any node. */
export function podTemplate(set: DaemonSet, hash: string): PodTemplateSpec {
  const template = templateOf(set);
  const generation = generationOf(set);
  const labels: StringMap = {
    ...template.metadata?.labels,
    ...(generation === undefined ? {} : { [GENERATION_LABEL]: String(generation) }),
    ...(hash === '' ? {} : { [HASH_LABEL]: hash }),
  };
  return {
    metadata: { ...template.metadata, labels },
    spec: {
      ...template.spec,
      containers: template.spec?.containers ?? [],
      tolerations: daemonTolerations(template.spec),
    },
  };
}

/** The affinity with the node's name in place of whatever nodes it required. */
function pinnedAffinity(affinity: Affinity | undefined, node: string): Affinity {
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const matchFields = [{ key: NODE_NAME_FIELD, operator: 'In', values: [node] }];
  return {
    ...affinity,
    nodeAffinity: {
      ...affinity?.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: {
        ...required,
        nodeSelectorTerms: [{ matchFields }],
      },
    },
  };
}

/** The template for one node; the scheduler binds it there. */
export function pinnedTemplate(template: PodTemplateSpec, node: string): PodTemplateSpec {
  const affinity = pinnedAffinity(template.spec?.affinity, node);
  return {
    ...template,
    spec: { ...template.spec, containers: template.spec?.containers ?? [], affinity },
  };
}

/** The node that an unscheduled pod is made for, by its affinity; undefined if that says none. */
export function pinnedNode({ spec }: Pod): string | undefined {
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  for (const { matchFields = [] } of required?.nodeSelectorTerms ?? []) {
    for (const { key, operator, values = [] } of matchFields) {
      if (key !== NODE_NAME_FIELD || operator !== 'In') continue;
      return values.length === 1 ? values[0] : undefined;
    }
  }
  return undefined;
}

/** Which of the pods of a node counts: scheduled ones first, then the oldest, then by name. */
export function byAge(a: DaemonPod, b: DaemonPod): number {
  const [x, y] = [a.record, b.record];
  const scheduled = Number(x.nodeName === '') - Number(y.nodeName === '');
  if (scheduled !== 0) return scheduled;
  return x.createdAt - y.createdAt || (x.name < y.name ? -1 : Number(x.name > y.name));
}
