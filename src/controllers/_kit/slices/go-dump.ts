/**
 * Ports and subsets as text in the way Go's dump writes them. Upstream orders them by the hash of
 * that text, and the order is what users see.
 */
import { fnv1a128 } from '../../../api/hash.ts';
import type {
  EndpointAddress,
  EndpointSubset,
  ObjectReference,
  SlicePort,
  SubsetPort,
} from '../../../api/types/index.ts';

const NIL = '<nil>';
const utf8 = new TextEncoder();

/** The same values in upstream's order: by the hash of what `dump` writes of each. */
export function byHash<T>(values: readonly T[], dump: (value: T) => string): T[] {
  if (values.length < 2) return [...values];
  const hashed = values.map((value) => ({ value, hash: fnv1a128(utf8.encode(dump(value))) }));
  hashed.sort((a, b) => (a.hash < b.hash ? -1 : Number(a.hash > b.hash)));
  return hashed.map(({ value }) => value);
}

/** A port of an EndpointSlice. */
export function dumpSlicePort({ name, protocol, port, appProtocol }: SlicePort): string {
  return (
    `(v1.EndpointPort){Name:(*string)${name ?? NIL} Protocol:(*v1.Protocol)${protocol ?? NIL} ` +
    `Port:(*int32)${port ?? NIL} AppProtocol:(*string)${appProtocol ?? NIL}}`
  );
}

/** A port of Endpoints. */
export function dumpSubsetPort(port: SubsetPort): string {
  return `(v1.EndpointPort)${subsetPort(port)}`;
}

/** A subset of Endpoints. */
export function dumpSubset(subset: EndpointSubset): string {
  const addresses = list('v1.EndpointAddress', subset.addresses?.map(subsetAddress));
  const notReady = list('v1.EndpointAddress', subset.notReadyAddresses?.map(subsetAddress));
  const ports = list('v1.EndpointPort', subset.ports?.map(subsetPort));
  return (
    `(v1.EndpointSubset){Addresses:${addresses} NotReadyAddresses:${notReady} ` + `Ports:${ports}}`
  );
}

function subsetPort({ name = '', port, protocol = '', appProtocol }: SubsetPort): string {
  return (
    `{Name:(string)${name} Port:(int32)${port} Protocol:(v1.Protocol)${protocol} ` +
    `AppProtocol:(*string)${appProtocol ?? NIL}}`
  );
}

function subsetAddress({ ip, hostname = '', nodeName, targetRef }: EndpointAddress): string {
  return (
    `{IP:(string)${ip} Hostname:(string)${hostname} NodeName:(*string)${nodeName ?? NIL} ` +
    `TargetRef:(*v1.ObjectReference)${targetRef === undefined ? NIL : reference(targetRef)}}`
  );
}

function reference(to: ObjectReference): string {
  const { kind = '', namespace = '', name = '', uid = '', apiVersion = '' } = to;
  const { resourceVersion = '', fieldPath = '' } = to;
  return (
    `{Kind:(string)${kind} Namespace:(string)${namespace} Name:(string)${name} ` +
    `UID:(types.UID)${uid} APIVersion:(string)${apiVersion} ` +
    `ResourceVersion:(string)${resourceVersion} FieldPath:(string)${fieldPath}}`
  );
}

function list(type: string, items: readonly string[] | undefined): string {
  return `([]${type})${items === undefined ? NIL : `[${items.join(' ')}]`}`;
}
