/** Whom references may mean when the identity that was tried does not exist. */
import { compareIdentities, type Identity, identityOf, keyOfIdentity } from './identity.ts';
import type { Node } from './node.ts';

/**
 * Another identity by which dependents call the owner with this UID: the first one after `absent`
 * in order, or the first of all, so that repeated calls go round. Undefined if there is no other.
 */
export function nextIdentity(dependents: readonly Node[], absent: Identity): Identity | undefined {
  const seen = new Map<string, Identity>();
  for (const dependent of dependents) {
    for (const reference of dependent.owners) {
      if (reference.uid !== absent.uid) continue;
      const identity = inScope(identityOf(reference, dependent.namespace), absent);
      seen.set(keyOfIdentity(identity), identity);
    }
  }
  seen.delete(keyOfIdentity(absent));
  const ordered = [...seen.values()].sort(compareIdentities);
  return ordered.find((identity) => compareIdentities(absent, identity) < 0) ?? ordered[0];
}

/** A kind that was looked up as cluster-scoped has no namespace, wherever the dependent lives. */
function inScope(identity: Identity, absent: Identity): Identity {
  const sameKind = identity.apiVersion === absent.apiVersion && identity.kind === absent.kind;
  return absent.namespace === '' && sameKind ? { ...identity, namespace: '' } : identity;
}
