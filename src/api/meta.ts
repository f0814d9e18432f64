/** Object metadata: keys, controller references, comparing labels, generated names. */
import { apiVersionOf, type Resource } from './resource.ts';
import type { KubeObject, OwnerReference } from './types/index.ts';

/** Labels or another string map of an object. */
export type StringMap = Readonly<Record<string, string>>;

/** The controller of an object as records keep it. */
export interface ControllerIdentity {
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** Key of an object in queues and caches: "namespace/name", or "name" if cluster-scoped. */
export function keyOf(meta: { readonly namespace?: string; readonly name: string }): string {
  return meta.namespace ? `${meta.namespace}/${meta.name}` : meta.name;
}

/** Namespace ("" if cluster-scoped) and name of a key made by `keyOf`. */
export function splitKey(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/');
  return { namespace: slash < 0 ? '' : key.slice(0, slash), name: key.slice(slash + 1) };
}

/** The owner reference with controller=true, or undefined for an orphan. */
export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}

/** The reference that makes `owner` the controller of another object, blocking its deletion. */
export function controllerReference(
  owner: { readonly name: string; readonly uid: string },
  resource: Resource,
): OwnerReference {
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    name: owner.name,
    uid: owner.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}

/** True if both name the same controller, or neither has one. */
export function sameController(
  a: ControllerIdentity | undefined,
  b: ControllerIdentity | undefined,
): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined) return false;
  return a.uid === b.uid && a.name === b.name && a.kind === b.kind;
}

/** True if two string maps (labels, annotations) have the same keys and values. */
export function sameMap(a: StringMap, b: StringMap): boolean {
  if (a === b) return true;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key]);
}

/** generateName of pods made for this owner. Upstream's form without the dash needs a bad name. */
export function generateNameFor(ownerName: string): string {
  return `${ownerName}-`;
}
