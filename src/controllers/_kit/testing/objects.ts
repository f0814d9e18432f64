/** Pods and ReplicaSets for tests: a plain good one, changed by what a test gives. */
import { controllerReference } from '../../../api/meta.ts';
import { podRecordFields } from '../../../api/pod.ts';
import { REPLICA_SETS, type Resource } from '../../../api/resource.ts';
import { timeText } from '../../../api/time.ts';
import type { KubeObject, ObjectMeta, Pod, ReplicaSet } from '../../../api/types/index.ts';
import type { PodRecord } from '../../../runtime/informer/types.ts';

/** Labels that tie the pods and sets of these builders together. */
export const WEB_LABELS = Object.freeze({ app: 'web' });

/** When everything here was created: milliseconds since the epoch. */
export const CREATED_AT = Date.parse('2026-01-01T00:00:00Z');

/** What a test says about a pod. */
export interface PodFacts {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly owner?: KubeObject;
  readonly ownerResource?: Resource;
  readonly node?: string;
  readonly phase?: string;
  readonly ready?: boolean;
  /** Milliseconds since the epoch. */
  readonly readySince?: number;
  readonly createdAt?: number;
  readonly deletedAt?: number;
  readonly restarts?: number;
  readonly resourceVersion?: string;
}

/** A running, ready pod on node-1 in namespace default; `owner` (a ReplicaSet) controls it. */
export function podOf(facts: PodFacts = {}): Pod {
  const { name = 'web-1', owner, ownerResource = REPLICA_SETS, ready = true } = facts;
  const { createdAt = CREATED_AT, readySince = createdAt, deletedAt } = facts;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: facts.namespace ?? 'default',
      uid: facts.uid ?? `uid-${name}`,
      resourceVersion: facts.resourceVersion ?? '1',
      labels: facts.labels ?? WEB_LABELS,
      annotations: facts.annotations,
      creationTimestamp: timeText(createdAt),
      deletionTimestamp: deletedAt === undefined ? undefined : timeText(deletedAt),
      ownerReferences: owner && [controllerReference(owner.metadata, ownerResource)],
    },
    spec: { containers: [], nodeName: facts.node ?? 'node-1' },
    status: {
      phase: facts.phase ?? 'Running',
      conditions: [
        {
          type: 'Ready',
          status: ready ? 'True' : 'False',
          lastTransitionTime: readySince === 0 ? undefined : timeText(readySince),
        },
      ],
      containerStatuses: [
        { name: 'c', image: 'i', imageID: '', ready, restartCount: facts.restarts ?? 0 },
      ],
    },
  };
}

/** The record that the pod informer would hold of `podOf(facts)`. */
export function podRecordOf(facts: PodFacts = {}): PodRecord {
  return podRecordFields(podOf(facts));
}

/** What a test says about a ReplicaSet. */
export interface ReplicaSetFacts {
  readonly meta?: Partial<ObjectMeta>;
  readonly spec?: Partial<ReplicaSet['spec']>;
  readonly status?: ReplicaSet['status'];
}

/** ReplicaSet default/web that wants 3 pods labeled app=web; its status is yet unwritten. */
export function replicaSetOf({ meta, spec, status }: ReplicaSetFacts = {}): ReplicaSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: 'web',
      namespace: 'default',
      uid: 'uid-web',
      resourceVersion: '7',
      generation: 1,
      ...meta,
    },
    spec: {
      replicas: 3,
      selector: { matchLabels: WEB_LABELS },
      template: { metadata: { labels: WEB_LABELS }, spec: { containers: [] } },
      ...spec,
    },
    status: status ?? { replicas: 0 },
  };
}
