/**
 * The canonical form of the subsets of Endpoints: addresses that offer the same ports stand in one
 * subset, everything in a fixed order. Follows upstream's RepackSubsets, order included, so that
 * Endpoints written by either compare equal.
 */
import type { EndpointAddress, EndpointSubset, SubsetPort } from '../../../api/types/index.ts';
import { byHash, dumpSubset, dumpSubsetPort } from './go-dump.ts';

/** Addresses with the same IP and the same target are one. */
interface Place {
  readonly address: EndpointAddress;
  readonly number: number;
}

/** The places that offer one port, and whether each is ready there. */
interface Offer {
  /** Undefined stands for "no ports". */
  readonly port: SubsetPort | undefined;
  readonly ready: Map<Place, boolean>;
}

interface Group {
  readonly ready: ReadonlyMap<Place, boolean>;
  readonly ports: SubsetPort[];
}

/** Repacks subsets; an address that is ready and not ready for the same port is not ready. */
export function repackSubsets(subsets: readonly EndpointSubset[]): EndpointSubset[] {
  const places = new Map<string, Place>();
  const offers = new Map<string, Offer>();
  for (const subset of subsets) {
    const ports = subset.ports ?? [];
    const { addresses = [], notReadyAddresses = [] } = subset;
    if (addresses.length + notReadyAddresses.length === 0) continue;
    for (const port of ports.length === 0 ? [undefined] : ports) {
      const offer = offerOf(offers, port);
      add(offer, places, addresses, true);
      add(offer, places, notReadyAddresses, false);
    }
  }
  return byHash(grouped(offers.values()).map(toSubset), dumpSubset);
}

function offerOf(offers: Map<string, Offer>, port: SubsetPort | undefined): Offer {
  const id = port === undefined ? '' : dumpSubsetPort(port);
  const known = offers.get(id);
  if (known !== undefined) return known;
  const offer = { port, ready: new Map<Place, boolean>() };
  offers.set(id, offer);
  return offer;
}

function add(
  offer: Offer,
  places: Map<string, Place>,
  addresses: readonly EndpointAddress[],
  ready: boolean,
): void {
  for (const address of addresses) {
    const id = `${address.ip} ${address.targetRef?.uid ?? ''}`;
    const place = places.get(id) ?? { address, number: places.size };
    places.set(id, place);
    offer.ready.set(place, ready && offer.ready.get(place) !== false);
  }
}

/** Ports that are offered by the same places in the same state. */
function grouped(offers: Iterable<Offer>): Group[] {
  const groups = new Map<string, Group>();
  for (const { port, ready } of offers) {
    const marks = Array.from(ready, ([{ number }, isReady]) => (isReady ? number : -1 - number));
    const id = marks.sort((a, b) => a - b).join(',');
    const group = groups.get(id) ?? { ready, ports: [] };
    groups.set(id, group);
    if (port !== undefined) group.ports.push(port);
  }
  return [...groups.values()];
}

function toSubset({ ready, ports }: Group): EndpointSubset {
  const addresses: EndpointAddress[] = [];
  const notReadyAddresses: EndpointAddress[] = [];
  for (const [{ address }, isReady] of ready) {
    (isReady ? addresses : notReadyAddresses).push(address);
  }
  return {
    ...(addresses.length > 0 ? { addresses: addresses.sort(byIpAndTarget) } : {}),
    ...(notReadyAddresses.length > 0
      ? { notReadyAddresses: notReadyAddresses.sort(byIpAndTarget) }
      : {}),
    ...(ports.length > 0 ? { ports: byHash(ports, dumpSubsetPort) } : {}),
  };
}

/** By the text of the IP; of equal ones, those without a target first, then by its UID. */
function byIpAndTarget(a: EndpointAddress, b: EndpointAddress): number {
  if (a.ip !== b.ip) return a.ip < b.ip ? -1 : 1;
  const [left = '', right = ''] = [a.targetRef?.uid, b.targetRef?.uid];
  return left < right ? -1 : Number(left > right);
}
