/** What is particular about caching a resource: its record, its indexes, what never reaches disk. */
import { podRecordFields } from '../../api/pod.ts';
import { recordFields } from '../../api/record.ts';
import { NODES, PODS, type Resource, resourceId } from '../../api/resource.ts';
import type { KubeObject, Node, Pod } from '../../api/types/index.ts';
import type { IndexFunction } from './index-map.ts';
import type { ObjectRecord, PodRecord } from './types.ts';

export interface ResourceTraits<T extends KubeObject, R extends ObjectRecord> {
  /** The flat record that memory holds. */
  record(object: T): R;
  readonly indexes: Readonly<Record<string, IndexFunction<R>>>;
  /** The object as it is stored: managedFields dropped, secrets redacted. */
  lean(object: T): T;
  /** True if `after` differs from `before` in heartbeat times only. */
  readonly onlyHeartbeat?: (before: T, after: T) => boolean;
  /** Many big objects: writing one does not pull it into the LRU. */
  readonly bulky: boolean;
}

/** Removes from an object what must not be stored; given by the composition root. */
export type Redact = (resource: string, object: KubeObject) => KubeObject;

/** Traits of a resource whose records are plain ObjectRecords. */
export function plainTraits<T extends KubeObject>(
  resource: Resource,
  redact: Redact,
): ResourceTraits<T, ObjectRecord> {
  const id = resourceId(resource);
  const base = {
    record: (object: T): ObjectRecord => recordFields(object),
    indexes: {},
    lean: (object: T): T => redact(id, object) as T,
    bulky: false,
  };
  if (id !== resourceId(NODES)) return base;
  return { ...base, onlyHeartbeat: (before, after) => sameNodeButTimes(before, after) };
}

/** Traits of pods: the rich record and an index by node. */
export function podTraits(redact: Redact): ResourceTraits<Pod, PodRecord> {
  const id = resourceId(PODS);
  return {
    record: (pod) => podRecordFields(pod),
    indexes: { nodeName: (record) => (record.nodeName === '' ? [] : [record.nodeName]) },
    lean: (pod) => redact(id, pod) as Pod,
    bulky: true,
  };
}

function sameNodeButTimes(before: KubeObject, after: KubeObject): boolean {
  return heartbeatless(before as Node) === heartbeatless(after as Node);
}

function heartbeatless(node: Node): string {
  const conditions = (node.status?.conditions ?? []).map((condition) => ({
    ...condition,
    lastHeartbeatTime: undefined,
  }));
  const metadata = { ...node.metadata, resourceVersion: '' };
  return JSON.stringify({ ...node, metadata, status: { ...node.status, conditions } });
}
