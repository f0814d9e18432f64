/** Services, pods, nodes and Endpoints of scenarios. No kubelet runs: the scenario says how pods do. */
import type { Cluster, Json, Obj } from '../rig/index.ts';
import type { Fields, World } from './world.ts';

const LABELS = { app: 'web' };
const ZONE_LABEL = 'topology.kubernetes.io/zone';
const CONTROL_PLANE_LABEL = 'node-role.kubernetes.io/control-plane';
/** When pods got ready unless a scenario says otherwise. */
const READY_AT = '2026-01-01T00:00:10Z';

/** Three nodes of equal size in zones a, b and c, and one of the control plane without a zone. */
export async function createNodes(cluster: Cluster): Promise<void> {
  for (const letter of ['a', 'b', 'c', '0']) {
    const labels =
      letter === '0' ? { [CONTROL_PLANE_LABEL]: '' } : { [ZONE_LABEL]: `zone-${letter}` };
    const name = `node-${letter}`;
    await cluster.api.create({ apiVersion: 'v1', kind: 'Node', metadata: { name, labels } });
    await cluster.api.patchStatus('nodes', '', name, {
      allocatable: { cpu: '4' },
      conditions: [{ type: 'Ready', status: 'True', reason: 'Test', message: '' }],
    });
  }
}

/** What a scenario says about a pod. */
export interface PodFacts {
  readonly ips?: readonly string[];
  readonly ready?: boolean;
  readonly readyAt?: string;
  readonly phase?: string;
  readonly node?: string;
  readonly labels?: Fields;
  /** Named container ports. */
  readonly ports?: Readonly<Record<string, number>>;
  readonly spec?: Fields;
}

/** Creates a pod on a node and gives it the status that a kubelet would. */
export async function pod(world: World, name: string, facts: PodFacts = {}): Promise<void> {
  const ports = Object.entries(facts.ports ?? {}).map(([port, containerPort]) => ({
    name: port,
    containerPort,
  }));
  await world.create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: facts.labels ?? LABELS },
    spec: {
      nodeName: facts.node ?? 'node-a',
      terminationGracePeriodSeconds: 600,
      automountServiceAccountToken: false,
      containers: [{ name: 'c', image: 'i', ports }],
      ...facts.spec,
    },
  });
  await podStatus(world, name, facts);
}

/** So many pods web-1, web-2, ... */
export async function pods(world: World, count: number, facts: PodFacts = {}): Promise<void> {
  for (let at = 1; at <= count; at++) await pod(world, `web-${at}`, facts);
}

/** Changes what a kubelet says of a pod. */
export async function podStatus(world: World, name: string, facts: PodFacts): Promise<void> {
  const { ready = true, readyAt = READY_AT, phase = 'Running' } = facts;
  const ips = facts.ips ?? [`10.1.0.${name.replaceAll(/\D/g, '') || 1}`];
  await world.api.patchStatus('pods', world.namespace, name, {
    phase,
    podIP: ips[0],
    podIPs: ips.map((ip) => ({ ip })),
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: readyAt }],
  });
}

/** Deletes a pod at once; `slowly` leaves it terminating for the rest of the scenario. */
export async function endPod(world: World, name: string, slowly = false): Promise<void> {
  const options = slowly ? {} : { gracePeriodSeconds: 0 };
  await world.api.remove('pods', world.namespace, name, options);
}

/** A Service of port 80 to 8080; `metadata` goes beside the spec's fields. */
export function service(fields: Fields = {}, name = 'web'): Fields {
  const { metadata, ...spec } = fields;
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, ...(metadata as Fields) },
    spec: { selector: LABELS, ports: [{ name: 'http', port: 80, targetPort: 8080 }], ...spec },
  };
}

/** Changes the spec of the Service "web". */
export function edit(world: World, spec: Fields): Promise<Obj> {
  return world.merge('services', 'web', { spec });
}

/** How addresses stand: "2 ready, 1 not". */
export type Count = `${number} ready` | `${number} ready, ${number} not`;

/** Waits until the slices of a Service hold so many endpoints in all, in so many slices if said. */
export async function slicesHold(
  world: World,
  count: Count,
  slices?: number,
  name = 'web',
): Promise<Obj[]> {
  const found = await world.untilList(
    'endpointslices',
    (all) => {
      const own = ofService(all, name);
      const endpoints: Json[] = own.flatMap((slice) => slice.endpoints ?? []);
      const ready = endpoints.filter(({ conditions }) => conditions.ready).length;
      const right = countOf(ready, endpoints.length - ready) === count && own.length > 0;
      return right && (slices === undefined || own.length === slices);
    },
    `slices of ${name} with ${count}`,
  );
  return ofService(found, name);
}

/** Waits until the Endpoints of a Service hold so many addresses. */
export function endpointsHold(world: World, count: Count, name = 'web'): Promise<Obj> {
  return world.until('endpoints', name, ({ subsets = [] }) => {
    const sum = (field: string): number =>
      subsets.reduce((total: number, subset: Json) => total + (subset[field] ?? []).length, 0);
    return countOf(sum('addresses'), sum('notReadyAddresses')) === count;
  });
}

/** Both of them. */
export async function shows(world: World, count: Count, slices?: number): Promise<void> {
  await slicesHold(world, count, slices);
  await endpointsHold(world, count);
}

/** The slices of a Service. */
export function ofService(slices: readonly Obj[], name = 'web'): Obj[] {
  return slices.filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === name);
}

function countOf(ready: number, not: number): Count {
  return not === 0 ? `${ready} ready` : `${ready} ready, ${not} not`;
}
