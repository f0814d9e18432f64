/** The endpoints that the pods of a Service make in one family, by the ports they offer. */
import type { IpFamily } from '../../api/ip.ts';
import type { NamedPort } from '../../api/pod.ts';
import type { Service, SliceEndpoint, SlicePort } from '../../api/types/index.ts';
import type { PodRecord } from '../../runtime/informer/types.ts';
import { type EndpointSet, endpointKey } from '../_kit/slices/endpoint-set.ts';
import { addressesOf, countsAsEndpoint, publishedHostname } from '../_kit/slices/pods.ts';
import { orderedSlicePorts, portsKey, targetPortIn } from '../_kit/slices/ports.ts';

/** What is wanted at one set of ports; it may be nothing. */
export interface WantedGroup {
  readonly key: string;
  readonly ports: readonly SlicePort[];
  readonly wanted: EndpointSet;
}

/** All that is wanted, and which pods could not be taken. */
export interface Wanted {
  /** By key. */
  readonly groups: readonly WantedGroup[];
  readonly problems: readonly string[];
}

/** `zones`: the zone of each node, "" if it has none; a node that is missing doesn't exist. */
export function wantedEndpoints(
  service: Service,
  pods: readonly PodRecord[],
  family: IpFamily,
  zones: ReadonlyMap<string, string>,
): Wanted {
  const groups = new Map<string, WantedGroup>();
  const byPorts = new Map<readonly NamedPort[], WantedGroup>();
  const published = service.spec?.publishNotReadyAddresses ?? false;
  const problems: string[] = [];
  for (const pod of pods) {
    if (!countsAsEndpoint(pod, true)) continue;
    const group = byPorts.get(pod.namedPorts) ?? groupOf(groups, service, pod.namedPorts);
    byPorts.set(pod.namedPorts, group);
    const zone = zones.get(pod.nodeName);
    if (zone === undefined && !published) {
      const { namespace, name } = service.metadata;
      const whose = `Pod ${pod.name} for Service ${namespace}/${name}`;
      problems.push(`skipping ${whose}: Node ${pod.nodeName} Not Found`);
      continue;
    }
    const addresses = addressesOf(pod, family);
    if (addresses.length === 0) continue;
    const endpoint = endpointOf(service, pod, addresses, zone);
    group.wanted.set(endpointKey(endpoint), endpoint);
  }
  return { groups: [...groups.values()].sort((a, b) => (a.key < b.key ? -1 : 1)), problems };
}

function groupOf(
  groups: Map<string, WantedGroup>,
  service: Service,
  namedPorts: readonly NamedPort[],
): WantedGroup {
  const ports = portsFor(service, namedPorts);
  const key = portsKey(ports);
  const group = groups.get(key) ?? { key, ports, wanted: new Map<string, SliceEndpoint>() };
  groups.set(key, group);
  return group;
}

/** The Service's ports as pods with these ports offer them; those they lack are left out. */
function portsFor(service: Service, namedPorts: readonly NamedPort[]): readonly SlicePort[] {
  const ports: SlicePort[] = [];
  for (const servicePort of service.spec?.ports ?? []) {
    const port = targetPortIn(namedPorts, servicePort);
    if (port === undefined) continue;
    const { name = '', protocol, appProtocol } = servicePort;
    ports.push({ name, port, protocol, ...(appProtocol === undefined ? {} : { appProtocol }) });
  }
  return orderedSlicePorts(ports);
}

function endpointOf(
  service: Service,
  pod: PodRecord,
  addresses: readonly string[],
  zone: string | undefined,
): SliceEndpoint {
  const { namespace, name, uid, nodeName, ready: serving, deleting: terminating } = pod;
  const published = service.spec?.publishNotReadyAddresses ?? false;
  const hostname = publishedHostname(pod, service);
  return {
    addresses,
    conditions: { ready: published || (serving && !terminating), serving, terminating },
    ...(hostname === undefined ? {} : { hostname }),
    targetRef: { kind: 'Pod', namespace, name, uid },
    ...(nodeName === '' ? {} : { nodeName }),
    ...(zone ? { zone } : {}),
  };
}
