/** Endpoints of slices: which two are the same, and whether the same one has changed. */
import type { SliceEndpoint } from '../../../api/types/index.ts';

/** Endpoints by identity. */
export type EndpointSet = Map<string, SliceEndpoint>;

/** Equal for endpoints that are the same one: addresses, host name and pod; the rest may change. */
export function endpointKey({ addresses, hostname = '', targetRef }: SliceEndpoint): string {
  const sorted = addresses.length > 1 ? addresses.toSorted().join(',') : addresses[0];
  return `${sorted} ${hostname} ${targetRef?.namespace ?? ''}/${targetRef?.name ?? ''}`;
}

/** True if two endpoints of the same identity tell the same; hints are not looked at. */
export function sameEndpoint(a: SliceEndpoint, b: SliceEndpoint): boolean {
  return (
    a.nodeName === b.nodeName &&
    a.zone === b.zone &&
    a.conditions?.ready === b.conditions?.ready &&
    a.conditions?.serving === b.conditions?.serving &&
    a.conditions?.terminating === b.conditions?.terminating &&
    sameTarget(a.targetRef, b.targetRef)
  );
}

/** True if two references mean the same object; its version is not looked at. */
export function sameTarget(a: SliceEndpoint['targetRef'], b: SliceEndpoint['targetRef']): boolean {
  return (
    (a === undefined) === (b === undefined) &&
    a?.uid === b?.uid &&
    a?.name === b?.name &&
    a?.namespace === b?.namespace &&
    a?.kind === b?.kind &&
    a?.apiVersion === b?.apiVersion &&
    a?.fieldPath === b?.fieldPath
  );
}

/** True if the endpoint takes new connections. */
export function isReady({ conditions }: SliceEndpoint): boolean {
  return conditions?.ready === true;
}
