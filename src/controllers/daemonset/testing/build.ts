/** DaemonSets, nodes and their pods for tests: one call an object. */
import { controllerReference } from '../../../api/meta.ts';
import { DAEMON_SETS } from '../../../api/resource.ts';
import { timeText } from '../../../api/time.ts';
import type {
  DaemonSet,
  DaemonSetStatus,
  Pod,
  PodTemplateSpec,
  Taint,
} from '../../../api/types/index.ts';
import type { NodeFacts } from '../placement.ts';
import { HASH_LABEL } from '../pod.ts';

/** Noon of a day in May, milliseconds. */
export const NOON = Date.parse('2026-05-20T12:00:00Z');
export const LABELS = { app: 'agent' };

type Spec = NonNullable<DaemonSet['spec']>;

/** A pod template whose image tells templates apart. */
export function template(image = 'agent:1'): PodTemplateSpec {
  return {
    metadata: { labels: LABELS },
    spec: { containers: [{ name: 'agent', image, resources: {} }], restartPolicy: 'Always' },
  };
}

export interface SetOptions extends Partial<Omit<Spec, 'updateStrategy'>> {
  readonly onDelete?: boolean;
  readonly maxUnavailable?: number | string;
  readonly maxSurge?: number | string;
  readonly annotations?: Record<string, string>;
  readonly status?: Partial<DaemonSetStatus>;
  readonly generation?: number;
  readonly deleting?: boolean;
}

/** DaemonSet default/agent, rolling with one node unavailable unless told otherwise. */
export function daemonSet(options: SetOptions = {}): DaemonSet {
  const { onDelete, maxUnavailable = 1, maxSurge = 0, annotations, status, ...others } = options;
  const { generation = 1, deleting, ...spec } = others;
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: {
      name: 'agent',
      namespace: 'default',
      uid: 'set-uid',
      resourceVersion: '1',
      generation,
      ...(annotations && { annotations }),
      ...(deleting && { deletionTimestamp: timeText(NOON) }),
    },
    spec: {
      selector: { matchLabels: LABELS },
      template: template(),
      updateStrategy: onDelete
        ? { type: 'OnDelete' }
        : { type: 'RollingUpdate', rollingUpdate: { maxUnavailable, maxSurge } },
      revisionHistoryLimit: 10,
      ...spec,
    },
    ...(status && { status: status as DaemonSetStatus }),
  };
}

/** A node without labels; taints as "key:Effect". */
export function node(name: string, ...taints: string[]): NodeFacts {
  return {
    name,
    labels: {},
    taints: taints.map((text) => {
      const [key = '', effect = ''] = text.split(':');
      return { key, effect } as Taint;
    }),
  };
}

export interface PodOptions {
  readonly hash?: string;
  readonly phase?: string;
  readonly ready?: boolean;
  /** Seconds for which it has been ready at noon. */
  readonly readyFor?: number;
  /** Seconds since its creation at noon. */
  readonly age?: number;
  readonly deleting?: boolean;
  /** Not scheduled yet. */
  readonly waiting?: boolean;
  readonly labels?: Record<string, string>;
  readonly orphan?: boolean;
}

/** A pod for a node, running and ready there unless told otherwise. */
export function pod(name: string, on: string, options: PodOptions = {}): Pod {
  const { hash = 'old', phase = 'Running', readyFor = 60, age = 120, waiting } = options;
  const ready = options.ready ?? (phase === 'Running' && !waiting);
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [on] }];
  const required = { nodeSelectorTerms: [{ matchFields }] };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      uid: `${name}-uid`,
      resourceVersion: '1',
      creationTimestamp: timeText(NOON - age * 1000),
      labels: { ...LABELS, [HASH_LABEL]: hash, ...options.labels },
      ...(options.deleting && { deletionTimestamp: timeText(NOON) }),
      ...(!options.orphan && {
        ownerReferences: [controllerReference(daemonSet().metadata, DAEMON_SETS)],
      }),
    },
    spec: {
      containers: [],
      nodeName: waiting ? undefined : on,
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
    },
    status: {
      phase: waiting ? 'Pending' : phase,
      conditions: [
        {
          type: 'Ready',
          status: ready ? 'True' : 'False',
          lastTransitionTime: timeText(NOON - readyFor * 1000),
        },
      ],
    },
  };
}
