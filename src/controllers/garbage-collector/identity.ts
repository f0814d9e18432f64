/** Which object a node, a reference or a queue key speaks of. */
import type { OwnerReference } from '../../api/types/index.ts';

/** What an owner reference says about its owner. */
export interface Coordinates {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** Coordinates with a namespace, "" for cluster-scoped objects. */
export interface Identity extends Coordinates {
  readonly namespace: string;
}

/** What a reference says, taken to be in this namespace. */
export function identityOf(reference: OwnerReference, namespace: string): Identity {
  const { apiVersion, kind, name, uid } = reference;
  return { apiVersion, kind, namespace, name, uid };
}

/** The identity in upstream's words, for events and errors. */
export function identityText({ apiVersion, kind, namespace, name, uid }: Identity): string {
  return `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`;
}

/** "ReplicaSet default/web-1", for sentences. */
export function shortText({ kind, namespace, name }: Omit<Identity, 'uid' | 'apiVersion'>): string {
  return namespace === '' ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
}

/** The queue key of an identity: a JSON list, for names may hold any other separator. */
export function keyOfIdentity({ apiVersion, kind, namespace, name, uid }: Identity): string {
  return JSON.stringify([apiVersion, kind, namespace, name, uid]);
}

/** The identity of a queue key; undefined for a text that is none. */
export function identityOfKey(key: string): Identity | undefined {
  try {
    const [apiVersion, kind, namespace, name, uid] = JSON.parse(key) as readonly string[];
    if (apiVersion === undefined || kind === undefined || namespace === undefined) return undefined;
    return name === undefined || uid === undefined
      ? undefined
      : { apiVersion, kind, namespace, name, uid };
  } catch {
    return undefined;
  }
}

/** True if both speak of the same object in the same words. */
export function sameIdentity(a: Identity, b: Identity): boolean {
  return a.namespace === b.namespace && sameCoordinates(a, b);
}

/** True if UID, name, kind and version are the same. */
export function sameCoordinates(a: Coordinates, b: Coordinates): boolean {
  return a.uid === b.uid && a.name === b.name && a.kind === b.kind && a.apiVersion === b.apiVersion;
}

/** Orders identities by kind, version, namespace, name, UID. */
export function compareIdentities(a: Identity, b: Identity): number {
  return (
    compareTexts(a.kind, b.kind) ||
    compareTexts(a.apiVersion, b.apiVersion) ||
    compareTexts(a.namespace, b.namespace) ||
    compareTexts(a.name, b.name) ||
    compareTexts(a.uid, b.uid)
  );
}

function compareTexts(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
