/** Which pods count as endpoints of a Service, and under which addresses and host name. */
import { type IpFamily, parseIp } from '../../../api/ip.ts';
import { isTerminal } from '../../../api/pod.ts';
import type { Service } from '../../../api/types/index.ts';
import type { PodRecord } from '../../../runtime/informer/types.ts';

/** Has an address and is not over; a pod that is being deleted counts only if it is asked for. */
export function countsAsEndpoint(pod: PodRecord, includeTerminating: boolean): boolean {
  return !isTerminal(pod) && pod.podIps.length > 0 && (includeTerminating || !pod.deleting);
}

/** Addresses of a pod in one family, in canonical form and in the order of their text. */
export function addressesOf(pod: PodRecord, family: IpFamily): string[] {
  const addresses: string[] = [];
  for (const text of pod.podIps) {
    const ip = parseIp(text);
    if (ip?.family === family) addresses.push(ip.text);
  }
  return addresses.length > 1 ? addresses.sort() : addresses;
}

/** The host name to publish: that of a pod which names this Service as its subdomain. */
export function publishedHostname(pod: PodRecord, service: Service): string | undefined {
  const named = pod.hostname !== '' && pod.subdomain === service.metadata.name;
  return named ? pod.hostname : undefined;
}
