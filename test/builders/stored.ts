/** Making drafts into objects as an API server gives them back, without a server. */
import type { V1ObjectMeta } from '@kubernetes/client-node';
import type { KubeObject, OwnerReference, Wire } from '../../src/api/types/index.ts';
import { START } from './core.ts';

type DraftObject = {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: Wire<V1ObjectMeta>;
};

let made = 0;

/** A UID in the usual form, a new one each time, the same ones in each run. */
export function uid(): string {
  made += 1;
  return `00000000-0000-4000-8000-${made.toString(16).padStart(12, '0')}`;
}

/**
 * The draft with uid, resourceVersion, creationTimestamp, generation 1 and, unless
 * `clusterScoped`, a namespace ("default"); what the draft says itself wins.
 */
export function stored<T extends DraftObject>(draft: T, clusterScoped = false): T & KubeObject {
  const scope = clusterScoped ? {} : { namespace: 'default' };
  const server = {
    uid: uid(),
    resourceVersion: String(1_000 + made),
    creationTimestamp: START,
    generation: 1,
  };
  return { ...draft, metadata: { ...scope, ...server, ...draft.metadata } } as T & KubeObject;
}

/** The reference by which `owner` controls an object. */
export function controllerRef(owner: KubeObject): OwnerReference {
  return {
    apiVersion: owner.apiVersion ?? '',
    kind: owner.kind ?? '',
    name: owner.metadata.name,
    uid: owner.metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}

/** The draft as controlled by `owner`. */
export function ownedBy<T extends DraftObject>(owner: KubeObject, draft: T): T {
  return { ...draft, metadata: { ...draft.metadata, ownerReferences: [controllerRef(owner)] } };
}
