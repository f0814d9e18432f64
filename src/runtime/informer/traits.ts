/** What is particular about caching a resource: its record, its indexes, what never reaches disk. */
import { sameController, sameMap } from '../../api/meta.ts';
import { podRecordFields, type Share } from '../../api/pod.ts';
import { projectionOf } from '../../api/projection.ts';
import { recordFields } from '../../api/record.ts';
import { NODES, PODS, type Resource, resourceId } from '../../api/resource.ts';
import type { KubeObject, Node, Pod } from '../../api/types/index.ts';
import { POD_VALUES_SHARED_MAX } from '../limits.ts';
import { Lru } from '../lru.ts';
import type { IndexFunction } from './index-map.ts';
import { indexesOf } from './indexes.ts';
import type { ObjectRecord, PodRecord } from './types.ts';
import { isNeverStored } from './unstored.ts';

export interface ResourceTraits<T extends KubeObject, R extends ObjectRecord> {
  /** The flat record that memory holds. */
  record(object: T): R;
  readonly indexes: Readonly<Record<string, IndexFunction<R>>>;
  /** The object as it is stored: managedFields dropped, secrets redacted. */
  lean(object: T): T;
  /** True if `after` differs from `before` in heartbeat times only. */
  readonly onlyHeartbeat?: (before: T, after: T) => boolean;
  /** True if nothing that anybody reads changed; looked at before `onlyHeartbeat`. */
  readonly sameButVersion?: (before: R, after: R) => boolean;
  /** Many big objects: writing one does not pull it into the LRU. */
  readonly bulky: boolean;
  /** Many objects share one map of labels: they are found by labels a group at a time. */
  readonly groupedByLabels?: boolean;
  /** Only metadata is asked for, kept and indexed (by namespace alone). */
  readonly metadataOnly?: boolean;
}

/** What an object of which only metadata is known calls itself. */
export const PARTIAL = Object.freeze({
  apiVersion: 'meta.k8s.io/v1',
  kind: 'PartialObjectMetadata',
});

/** Removes from an object what must not be stored; given by the composition root. */
export type Redact = (resource: string, object: KubeObject) => KubeObject;

/** Traits of a resource whose records are plain ObjectRecords. */
export function plainTraits<T extends KubeObject>(
  resource: Resource,
  redact: Redact,
): ResourceTraits<T, ObjectRecord> {
  const id = resourceId(resource);
  const base = {
    record: projectionOf(resource),
    indexes: indexesOf(resource),
    lean: (object: T): T => redact(id, object) as T,
    bulky: isNeverStored(id),
  };
  if (id !== resourceId(NODES)) return base;
  return { ...base, onlyHeartbeat: (before, after) => sameNodeButTimes(before, after) };
}

/** Traits of pods: the rich record and an index by node. */
export function podTraits(redact: Redact): ResourceTraits<Pod, PodRecord> {
  const id = resourceId(PODS);
  const share = sharing(POD_VALUES_SHARED_MAX);
  return {
    record: (pod) => podRecordFields(pod, share),
    indexes: { nodeName: (record) => (record.nodeName === '' ? [] : [record.nodeName]) },
    lean: (pod) => redact(id, pod) as Pod,
    bulky: true,
    groupedByLabels: true,
  };
}

/** Gives the first one seen of equal values; so many are kept as were used last. */
function sharing(valuesMax: number): Share {
  const known = new Lru<string, Parameters<Share>[1]>(valuesMax);
  return <T extends Parameters<Share>[1]>(id: string, value: T): T => {
    const first = known.get(id);
    if (first !== undefined) return first as T;
    known.set(id, value);
    return value;
  };
}

/**
 * Traits of a resource of which only metadata is followed. Annotations are dropped as well: nobody
 * reads them, and copies of whole objects stand in them.
 */
export function metadataTraits(): ResourceTraits<KubeObject, ObjectRecord> {
  return {
    record: (object) => recordFields(object),
    indexes: {},
    lean: bareMetadata,
    sameButVersion: sameRecord,
    bulky: true,
    metadataOnly: true,
  };
}

function bareMetadata(object: KubeObject): KubeObject {
  const { managedFields: _, annotations: __, ...metadata } = object.metadata;
  return { ...PARTIAL, metadata };
}

function sameRecord(before: ObjectRecord, after: ObjectRecord): boolean {
  return (
    before.uid === after.uid &&
    before.deleting === after.deleting &&
    before.ties === after.ties &&
    sameController(before.controller, after.controller) &&
    sameMap(before.labels, after.labels)
  );
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
