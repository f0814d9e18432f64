/** Services, pods and nodes for tests of endpoints: a plain good one, changed by what a test gives. */
import { podRecordFields } from '../../../../api/pod.ts';
import { timeText } from '../../../../api/time.ts';
import type {
  Container,
  Node,
  ObjectMeta,
  Pod,
  PodSpec,
  Service,
} from '../../../../api/types/index.ts';
import type { PodRecord } from '../../../../runtime/informer/types.ts';

/** When the objects here were created, milliseconds. */
export const CREATED_AT = Date.parse('2026-01-01T00:00:00Z');
/** When the pods here got ready. */
export const READY_AT = Date.parse('2026-01-01T00:01:00Z');
const LABELS = { app: 'web' };

/** Service default/web: port 80 to 8080 of pods labeled app=web, IPv4. */
export function service(
  spec: Partial<NonNullable<Service['spec']>> = {},
  meta: Partial<ObjectMeta> = {},
): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: 'web',
      namespace: 'default',
      uid: 'uid-web',
      resourceVersion: '1',
      creationTimestamp: timeText(CREATED_AT),
      ...meta,
    },
    spec: {
      type: 'ClusterIP',
      clusterIP: '10.96.0.1',
      ipFamilies: ['IPv4'],
      selector: LABELS,
      ports: [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }],
      ...spec,
    },
  };
}

export interface PodFacts {
  /** Default: one IPv4 address made from the digits of the name. */
  readonly ips?: readonly string[];
  readonly ready?: boolean;
  readonly readySince?: number;
  readonly deleting?: boolean;
  readonly phase?: string;
  readonly node?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  /** Named ports of its container. */
  readonly ports?: Readonly<Record<string, number>>;
  readonly spec?: Partial<PodSpec>;
}

/** A running, ready pod on node-1 in namespace default. */
export function wholePod(name: string, facts: PodFacts = {}): Pod {
  const { ready = true, readySince = READY_AT, deleting, ports = {} } = facts;
  const ips = facts.ips ?? [ipFor(name)];
  const container: Container = {
    name: 'c',
    ports: Object.entries(ports).map(([port, containerPort]) => ({
      name: port,
      containerPort,
      protocol: 'TCP',
    })),
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: facts.namespace ?? 'default',
      uid: facts.uid ?? `uid-${name}`,
      resourceVersion: facts.resourceVersion ?? '1',
      labels: facts.labels ?? LABELS,
      creationTimestamp: timeText(CREATED_AT),
      ...(deleting && { deletionTimestamp: timeText(READY_AT) }),
    },
    spec: { nodeName: facts.node ?? 'node-1', containers: [container], ...facts.spec },
    status: {
      phase: facts.phase ?? 'Running',
      podIP: ips[0],
      podIPs: ips.map((ip) => ({ ip })),
      conditions: [
        {
          type: 'Ready',
          status: ready ? 'True' : 'False',
          lastTransitionTime: timeText(readySince),
        },
      ],
    },
  };
}

/** The record of `wholePod(name, facts)`. */
export function pod(name: string, facts: PodFacts = {}): PodRecord {
  return podRecordFields(wholePod(name, facts));
}

/** So many pods web-1, web-2, ... that are alike. */
export function pods(count: number, facts: PodFacts = {}): PodRecord[] {
  return Array.from({ length: count }, (_, at) => pod(`web-${at + 1}`, facts));
}

/** A node in a zone ("" for none); ready and with 4 CPUs unless told otherwise. */
export function node(
  name: string,
  zone: string,
  facts: { ready?: boolean; cpu?: string; labels?: Readonly<Record<string, string>> } = {},
): Node {
  const { ready = true, cpu = '4', labels } = facts;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      uid: `uid-${name}`,
      resourceVersion: '1',
      labels: { ...(zone === '' ? {} : { 'topology.kubernetes.io/zone': zone }), ...labels },
    },
    status: {
      allocatable: cpu === '' ? {} : { cpu },
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    },
  };
}

function ipFor(name: string): string {
  const number = Number(name.replaceAll(/\D/g, '') || 1);
  return `10.0.${number >> 8}.${number & 0xff}`;
}
