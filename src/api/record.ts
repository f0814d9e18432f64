/** The flat record of a cached object: the fields that lists, indexes and claims work on. */
import { type ControllerIdentity, controllerOf, keyOf, type StringMap } from './meta.ts';
import type { KubeObject } from './types/index.ts';

/** What `recordFields` gives; the informers hold one for every cached object. */
export interface RecordFields {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly labels: StringMap;
  readonly controller?: ControllerIdentity;
  readonly deleting: boolean;
}

const NO_LABELS: StringMap = Object.freeze({});

/** The record of an object. Labels are the object's own map; absent labels share one empty map. */
export function recordFields(object: KubeObject): RecordFields {
  const { metadata } = object;
  const reference = controllerOf(object);
  return {
    key: keyOf(metadata),
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    labels: metadata.labels ?? NO_LABELS,
    controller: reference && { kind: reference.kind, name: reference.name, uid: reference.uid },
    deleting: metadata.deletionTimestamp !== undefined,
  };
}
