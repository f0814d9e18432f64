/** StatefulSets and their pods for tests: one call an object. */
import { controllerReference } from '../../../api/meta.ts';
import { STATEFUL_SETS } from '../../../api/resource.ts';
import { timeText } from '../../../api/time.ts';
import type {
  OwnerReference,
  PersistentVolumeClaim,
  Pod,
  PodTemplateSpec,
  StatefulSet,
  StatefulSetStatus,
} from '../../../api/types/index.ts';
import { POD_INDEX_LABEL, POD_NAME_LABEL, REVISION_LABEL } from '../members.ts';

/** Noon of a day in May, milliseconds. */
export const NOON = Date.parse('2026-05-20T12:00:00Z');
const MINUTE_MS = 60_000;
const LABELS = { app: 'web' };

type Spec = NonNullable<StatefulSet['spec']>;
type Policy = Spec['persistentVolumeClaimRetentionPolicy'];

/** A pod template whose image tells templates apart. */
export function template(image = 'app:1'): PodTemplateSpec {
  return {
    metadata: { labels: LABELS },
    spec: { containers: [{ name: 'app', image, resources: {} }], restartPolicy: 'Always' },
  };
}

export interface SetOptions extends Partial<Omit<Spec, 'updateStrategy'>> {
  readonly parallel?: boolean;
  readonly onDelete?: boolean;
  /** undefined: partition 0; null: no rollingUpdate block at all. */
  readonly partition?: number | null;
  readonly maxUnavailable?: number | string;
  readonly start?: number;
  /** Names of claim templates. */
  readonly claims?: readonly string[];
  readonly policy?: Policy;
  readonly annotations?: Record<string, string>;
  readonly status?: StatefulSetStatus;
  readonly generation?: number;
  readonly deleting?: boolean;
  readonly name?: string;
}

function strategyOf({ onDelete, partition, maxUnavailable }: SetOptions): Spec['updateStrategy'] {
  if (onDelete) return { type: 'OnDelete' };
  if (partition === null) return { type: 'RollingUpdate' };
  return { type: 'RollingUpdate', rollingUpdate: { partition: partition ?? 0, maxUnavailable } };
}

function claimTemplates(names: readonly string[]): Spec['volumeClaimTemplates'] {
  return names.map((name) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    status: { phase: 'Pending' },
  }));
}

/** StatefulSet default/web of 3 replicas, ordered and rolling unless told otherwise. */
export function statefulSet(options: SetOptions = {}): StatefulSet {
  const { parallel, onDelete: _o, partition: _p, maxUnavailable: _m, start, ...others } = options;
  const { claims = [], policy, annotations, status, generation = 1, deleting, ...rest } = others;
  const { name = 'web', ...spec } = rest;
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: {
      name,
      namespace: 'default',
      uid: 'set-uid',
      resourceVersion: '1',
      generation,
      ...(annotations && { annotations }),
      ...(deleting && { deletionTimestamp: timeText(NOON) }),
    },
    spec: {
      replicas: 3,
      serviceName: 'web',
      selector: { matchLabels: LABELS },
      template: template(),
      podManagementPolicy: parallel ? 'Parallel' : 'OrderedReady',
      updateStrategy: strategyOf(options),
      revisionHistoryLimit: 10,
      ...(start !== undefined && { ordinals: { start } }),
      ...(claims.length > 0 && { volumeClaimTemplates: claimTemplates(claims) }),
      ...(policy && { persistentVolumeClaimRetentionPolicy: policy }),
      ...spec,
    },
    ...(status && { status }),
  };
}

export interface PodOptions {
  readonly revision?: string;
  readonly phase?: string;
  readonly ready?: boolean;
  /** Seconds for which it has been ready at noon. */
  readonly readyFor?: number;
  readonly deleting?: boolean;
  readonly labels?: Record<string, string>;
  readonly uid?: string;
  /** Claims by volume name. */
  readonly volumes?: Readonly<Record<string, string>>;
  readonly orphan?: boolean;
}

/** The pod "<set>-<ordinal>", running and ready unless told otherwise. */
export function pod(ordinal: number | string, options: PodOptions = {}, set = statefulSet()): Pod {
  const name = typeof ordinal === 'number' ? `${set.metadata.name}-${ordinal}` : ordinal;
  const { revision = '', phase = 'Running', readyFor = 60 } = options;
  const ready = options.ready ?? phase === 'Running';
  const readySince = NOON - readyFor * 1000;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      uid: options.uid ?? `${name}-uid`,
      resourceVersion: '1',
      creationTimestamp: timeText(NOON - 10 * MINUTE_MS),
      labels: {
        ...LABELS,
        [POD_NAME_LABEL]: name,
        [POD_INDEX_LABEL]: String(ordinal),
        [REVISION_LABEL]: revision,
        ...options.labels,
      },
      ...(options.deleting && { deletionTimestamp: timeText(NOON) }),
      ...(!options.orphan && {
        ownerReferences: [controllerReference(set.metadata, STATEFUL_SETS)],
      }),
    },
    spec: {
      containers: [],
      nodeName: 'node-1',
      volumes: Object.entries(options.volumes ?? {}).map(([volume, claimName]) => ({
        name: volume,
        persistentVolumeClaim: { claimName },
      })),
    },
    status: {
      phase,
      conditions: [
        {
          type: 'Ready',
          status: ready ? 'True' : 'False',
          lastTransitionTime: timeText(readySince),
        },
      ],
    },
  };
}

/** A stored claim, owned by these. */
export function claim(
  name: string,
  ownerReferences: readonly OwnerReference[] = [],
  deleting = false,
): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name,
      namespace: 'default',
      uid: `${name}-uid`,
      resourceVersion: '1',
      ownerReferences,
      ...(deleting && { deletionTimestamp: timeText(NOON) }),
    },
    spec: {},
    status: { phase: 'Bound' },
  };
}
