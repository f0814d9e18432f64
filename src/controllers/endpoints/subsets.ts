/** The subsets of a Service's Endpoints as its pods make them, canonical and within capacity. */
import { type IpFamily, parseIp } from '../../api/ip.ts';
import type { NamedPort } from '../../api/pod.ts';
import type {
  EndpointAddress,
  EndpointSubset,
  Service,
  SubsetPort,
} from '../../api/types/index.ts';
import type { PodRecord } from '../../runtime/informer/types.ts';
import { addressesOf, countsAsEndpoint, publishedHostname } from '../_kit/slices/pods.ts';
import { targetPortIn } from '../_kit/slices/ports.ts';
import { repackSubsets } from '../_kit/slices/repack.ts';

/** Addresses that one Endpoints object holds at most; which go is up to `truncated`. */
export const CAPACITY_ADDRESSES = 1000;

/** Pods whose ports have the same numbers. */
interface Group {
  readonly ports: readonly SubsetPort[];
  readonly addresses: EndpointAddress[];
  readonly notReadyAddresses: EndpointAddress[];
}

/** Subsets in canonical form, over capacity as well. */
export function subsetsOf(service: Service, pods: readonly PodRecord[]): EndpointSubset[] {
  const published = service.spec?.publishNotReadyAddresses ?? false;
  const groups = new Map<readonly NamedPort[], Group | undefined>();
  for (const pod of pods) {
    if (!countsAsEndpoint(pod, published)) continue;
    const address = addressOf(service, pod);
    if (address === undefined) continue;
    if (!groups.has(pod.namedPorts)) groups.set(pod.namedPorts, groupFor(service, pod.namedPorts));
    const group = groups.get(pod.namedPorts);
    (published || pod.ready ? group?.addresses : group?.notReadyAddresses)?.push(address);
  }
  return repackSubsets([...groups.values()].filter((group) => group !== undefined));
}

/** Undefined if pods with these ports offer none that the Service wants. */
function groupFor(service: Service, namedPorts: readonly NamedPort[]): Group | undefined {
  const { ports: wanted = [], clusterIP } = service.spec ?? {};
  const ports: SubsetPort[] = [];
  for (const servicePort of wanted) {
    const port = targetPortIn(namedPorts, servicePort);
    if (port === undefined) continue;
    const { name, protocol, appProtocol } = servicePort;
    ports.push({
      ...(name ? { name } : {}),
      port,
      protocol,
      ...(appProtocol === undefined ? {} : { appProtocol }),
    });
  }
  const portless = wanted.length === 0 && clusterIP === 'None';
  if (ports.length === 0 && !portless) return undefined;
  return { ports, addresses: [], notReadyAddresses: [] };
}

function addressOf(service: Service, pod: PodRecord): EndpointAddress | undefined {
  const [ip] = addressesOf(pod, familyFor(service, pod));
  if (ip === undefined) return undefined;
  const { namespace, name, uid, nodeName } = pod;
  const hostname = publishedHostname(pod, service);
  return {
    ip,
    ...(hostname === undefined ? {} : { hostname }),
    nodeName,
    targetRef: { kind: 'Pod', namespace, name, uid },
  };
}

/** The Service's first family; one that has none yet is taken by its IP, else by the pod's. */
function familyFor({ spec }: Service, pod: PodRecord): IpFamily {
  const [first] = spec?.ipFamilies ?? [];
  if (first !== undefined) return first === 'IPv6' ? 'IPv6' : 'IPv4';
  const known = spec?.clusterIP && spec.clusterIP !== 'None' ? spec.clusterIP : pod.podIps[0];
  return parseIp(known ?? '')?.family ?? 'IPv4';
}

/** How many addresses subsets hold. */
export function countAddresses(subsets: readonly EndpointSubset[]): {
  readonly ready: number;
  readonly notReady: number;
} {
  let ready = 0;
  let notReady = 0;
  for (const { addresses = [], notReadyAddresses = [] } of subsets) {
    ready += addresses.length;
    notReady += notReadyAddresses.length;
  }
  return { ready, notReady };
}

/**
 * Subsets cut down to capacity, undefined if they are within it. Ready addresses stay first; what
 * must be cut is cut from each subset by its share, rounded so that the last subset loses most.
 */
export function truncated(subsets: readonly EndpointSubset[]): EndpointSubset[] | undefined {
  const { ready, notReady } = countAddresses(subsets);
  if (ready + notReady <= CAPACITY_ADDRESSES) return undefined;
  const onlyReady = ready > CAPACITY_ADDRESSES;
  const room = onlyReady ? CAPACITY_ADDRESSES : CAPACITY_ADDRESSES - ready;
  const total = onlyReady ? ready : notReady;
  let left = room;
  return subsets.map((subset) => {
    const { addresses = [], notReadyAddresses = [], ports } = subset;
    const all = onlyReady ? addresses : notReadyAddresses;
    const kept = all.slice(0, Math.min(left, Math.ceil((all.length / total) * room)));
    left -= kept.length;
    return onlyReady
      ? { addresses: kept, ...(ports && { ports }) }
      : { ...subset, notReadyAddresses: kept };
  });
}
