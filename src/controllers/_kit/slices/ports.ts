/** Ports of Services as pods offer them, and sets of ports by which slices are grouped. */
import type { NamedPort } from '../../../api/pod.ts';
import type { ServicePort, SlicePort } from '../../../api/types/index.ts';
import { byHash, dumpSlicePort } from './go-dump.ts';

const DEFAULT_PROTOCOL = 'TCP';

/**
 * The number that a Service's port has in a pod: the target port, or the first container port of
 * that name and protocol. Undefined if the pod has none.
 */
export function targetPortIn(
  namedPorts: readonly NamedPort[],
  servicePort: ServicePort,
): number | undefined {
  const { targetPort, port, protocol = DEFAULT_PROTOCOL } = servicePort;
  if (typeof targetPort !== 'string') return targetPort ?? port;
  return namedPorts.find((one) => one.name === targetPort && one.protocol === protocol)?.port;
}

/** Ports in the order in which upstream writes them. */
export function orderedSlicePorts(ports: readonly SlicePort[]): SlicePort[] {
  return byHash(ports, dumpSlicePort);
}

/** The same text for the same set of ports, whatever their order. */
export function portsKey(ports: readonly SlicePort[] | undefined): string {
  return (ports ?? []).map(dumpSlicePort).sort().join(' ');
}

/** A set of ports as people write it: "http:8080/TCP, 53/UDP", or "no ports". */
export function portsText(ports: readonly SlicePort[]): string {
  if (ports.length === 0) return 'no ports';
  const texts = ports.map(({ name, port, protocol }) => {
    const prefix = name ? `${name}:` : '';
    return `${prefix}${port ?? 'any'}/${protocol ?? DEFAULT_PROTOCOL}`;
  });
  return texts.join(', ');
}
