/** The endpoints that the subsets of Endpoints ask for, by ports and family of addresses. */
import { type IpFamily, parseIp } from '../../api/ip.ts';
import type {
  EndpointAddress,
  EndpointSubset,
  SliceEndpoint,
  SlicePort,
} from '../../api/types/index.ts';
import { type EndpointSet, endpointKey } from '../_kit/slices/endpoint-set.ts';
import { orderedSlicePorts, portsKey } from '../_kit/slices/ports.ts';
import { repackSubsets } from '../_kit/slices/repack.ts';

/** What is wanted at one set of ports in one family; it may be nothing. */
export interface WantedGroup {
  readonly family: IpFamily;
  readonly ports: readonly SlicePort[];
  readonly wanted: EndpointSet;
}

export interface Wanted {
  /** By `groupKey`. */
  readonly groups: ReadonlyMap<string, WantedGroup>;
  /** Addresses that are no IPs. */
  readonly invalid: number;
  /** Addresses left out: those, and what is beyond the bound. */
  readonly skipped: number;
}

/** Equal for slices and groups that belong together. */
export function groupKey(addressType: string, ports: readonly SlicePort[] | undefined): string {
  return `${addressType} ${portsKey(ports)}`;
}

/** Of each subset at most `addressesMax` are mirrored, ready ones first. */
export function wantedEndpoints(subsets: readonly EndpointSubset[], addressesMax: number): Wanted {
  const groups = new Map<string, WantedGroup>();
  let [invalid, skipped] = [0, 0];
  for (const subset of repackSubsets(subsets)) {
    const { addresses = [], notReadyAddresses = [] } = subset;
    const ports = slicePorts(subset);
    const ofFamily = { IPv4: groupOf(groups, 'IPv4', ports), IPv6: groupOf(groups, 'IPv6', ports) };
    let taken = 0;
    const take = (address: EndpointAddress, ready: boolean): void => {
      if (taken >= addressesMax) return;
      const family = parseIp(address.ip)?.family;
      if (family === undefined) {
        invalid++;
        return;
      }
      const endpoint = endpointOf(address, ready);
      ofFamily[family].wanted.set(endpointKey(endpoint), endpoint);
      taken++;
    };
    for (const address of addresses) take(address, true);
    for (const address of notReadyAddresses) take(address, false);
    skipped += addresses.length + notReadyAddresses.length - taken;
  }
  return { groups, invalid, skipped };
}

function groupOf(
  groups: Map<string, WantedGroup>,
  family: IpFamily,
  ports: readonly SlicePort[],
): WantedGroup {
  const key = groupKey(family, ports);
  const group = groups.get(key) ?? { family, ports, wanted: new Map<string, SliceEndpoint>() };
  groups.set(key, group);
  return group;
}

function slicePorts({ ports = [] }: EndpointSubset): SlicePort[] {
  return orderedSlicePorts(
    ports.map(({ name = '', port, protocol, appProtocol }) => ({
      name,
      port,
      protocol,
      ...(appProtocol === undefined ? {} : { appProtocol }),
    })),
  );
}

function endpointOf(address: EndpointAddress, ready: boolean): SliceEndpoint {
  const { ip, targetRef, nodeName, hostname } = address;
  return {
    addresses: [parseIp(ip)?.text ?? ip],
    conditions: { ready },
    ...(hostname ? { hostname } : {}),
    ...(targetRef === undefined ? {} : { targetRef }),
    ...(nodeName === undefined ? {} : { nodeName }),
  };
}
