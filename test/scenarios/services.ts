/** What users do with Services that select pods: Endpoints and EndpointSlices follow. */
import type { Obj } from '../rig/index.ts';
import {
  edit,
  endPod,
  endpointsHold,
  ofService,
  pod,
  podStatus,
  pods,
  service,
  shows,
  slicesHold,
} from './service-world.ts';
import type { Scenario, World } from './world.ts';

const LATER = '2026-01-01T00:05:00Z';
const EVEN_LATER = '2026-01-01T00:06:00Z';

/** The one slice of the Service "web". */
async function onlySlice(world: World): Promise<string> {
  const [slice] = ofService(await world.list('endpointslices'));
  return slice?.metadata.name;
}

const BASICS: readonly Scenario[] = [
  {
    name: 'a Service without pods has an empty slice and Endpoints',
    async play(world) {
      await world.create(service());
      await shows(world, '0 ready', 1);
    },
  },
  {
    name: 'pods come, ready or not',
    async play(world) {
      await pod(world, 'web-1');
      await pod(world, 'web-2', { ready: false });
      await world.create(service());
      await shows(world, '1 ready, 1 not', 1);
      await pod(world, 'web-3', { readyAt: LATER });
      await shows(world, '2 ready, 1 not', 1);
    },
  },
  {
    name: 'a pod gets unready, and ready again',
    async play(world) {
      await world.create(service());
      await shows(world, '0 ready');
      await pod(world, 'web-1');
      await shows(world, '1 ready');
      await podStatus(world, 'web-1', { ready: false, readyAt: LATER });
      await shows(world, '0 ready, 1 not');
      await podStatus(world, 'web-1', { ready: true, readyAt: EVEN_LATER });
      await shows(world, '1 ready');
    },
  },
  {
    name: 'a pod that is being deleted stays in slices while it serves',
    async play(world) {
      await pods(world, 2);
      await world.create(service());
      await shows(world, '2 ready');
      await endPod(world, 'web-1', true);
      await slicesHold(world, '1 ready, 1 not');
      await endpointsHold(world, '1 ready');
      await podStatus(world, 'web-1', { ready: false, readyAt: LATER });
      await slicesHold(world, '1 ready, 1 not');
    },
  },
  {
    name: 'pods go, the last one too',
    async play(world) {
      await pods(world, 2);
      await world.create(service());
      await shows(world, '2 ready');
      await endPod(world, 'web-1');
      await shows(world, '1 ready');
      await endPod(world, 'web-2');
      await shows(world, '0 ready', 1);
    },
  },
  {
    name: 'finished pods are left out, pods without an address too',
    async play(world) {
      await pod(world, 'web-1');
      await pod(world, 'web-2', { phase: 'Succeeded', ready: false });
      await pod(world, 'web-3', { phase: 'Failed', ready: false });
      await pod(world, 'web-4', { ips: [] });
      await world.create(service());
      await shows(world, '1 ready');
    },
  },
  {
    name: 'not-ready addresses are published if asked for',
    async play(world) {
      await pod(world, 'web-1', { ready: false });
      await pod(world, 'web-2');
      await endPod(world, 'web-2', true);
      await world.create(service({ publishNotReadyAddresses: true }));
      await shows(world, '2 ready');
      await edit(world, { publishNotReadyAddresses: false });
      await slicesHold(world, '0 ready, 2 not');
      await endpointsHold(world, '0 ready, 1 not');
    },
  },
  {
    name: 'a pod on a node that does not exist is left out of slices, with an event',
    async play(world) {
      await pod(world, 'web-1');
      await pod(world, 'web-2', { node: 'gone' });
      await world.create(service());
      await slicesHold(world, '1 ready');
      await endpointsHold(world, '2 ready');
      await world.untilList('events', (events) => events.length > 0, 'an event');
    },
  },
];

const SHAPES: readonly Scenario[] = [
  {
    name: 'a headless Service has its label, and host names of its subdomain',
    async play(world) {
      await pod(world, 'web-1', { spec: { hostname: 'one', subdomain: 'web' } });
      await pod(world, 'web-2', { spec: { hostname: 'two', subdomain: 'other' } });
      await world.create(service({ clusterIP: 'None' }));
      await shows(world, '2 ready');
    },
  },
  {
    name: 'a headless Service without ports',
    async play(world) {
      await pods(world, 2);
      await world.create(service({ clusterIP: 'None', ports: [] }));
      await shows(world, '2 ready', 1);
    },
  },
  {
    name: 'several ports, with protocols',
    async play(world) {
      const ports = [
        { name: 'http', port: 80, targetPort: 8080, appProtocol: 'kubernetes.io/h2c' },
        { name: 'dns', port: 53, targetPort: 5353, protocol: 'UDP' },
        { name: 'dns-tcp', port: 53, targetPort: 5353 },
        { name: 'admin', port: 9000, targetPort: 9000 },
      ];
      await pods(world, 2);
      await world.create(service({ ports }));
      await shows(world, '2 ready', 1);
    },
  },
  {
    name: 'named ports lead to other numbers in other pods',
    async play(world) {
      const ports = [
        { name: 'http', port: 80, targetPort: 'web' },
        { name: 'admin', port: 81, targetPort: 'admin' },
      ];
      await pod(world, 'web-1', { ports: { web: 8080, admin: 9090 } });
      await pod(world, 'web-2', { ports: { web: 8081, admin: 9090 } });
      await pod(world, 'web-3', { ports: { web: 8080 } });
      await pod(world, 'web-4');
      await world.create(service({ ports }));
      await slicesHold(world, '4 ready', 4);
      await endpointsHold(world, '5 ready');
    },
  },
  {
    name: 'more pods than a slice holds; some go, others come',
    async play(world) {
      await pods(world, 8);
      await world.create(service());
      await slicesHold(world, '8 ready', 3);
      for (const name of ['web-1', 'web-2', 'web-3', 'web-4']) await endPod(world, name);
      await slicesHold(world, '4 ready');
      await endpointsHold(world, '4 ready');
      await edit(world, { ports: [{ name: 'http', port: 80, targetPort: 8081 }] });
      const moved = (slices: Obj[]) => slices.every(({ ports }) => ports?.[0]?.port === 8081);
      await world.untilList('endpointslices', moved, 'the other port');
      await slicesHold(world, '4 ready', 2);
    },
  },
  {
    name: 'labels of the Service are mirrored, reserved ones are not',
    async play(world) {
      const labels = { team: 'a', 'kubernetes.io/service-name': 'bad' };
      await pods(world, 1);
      await world.create(service({ metadata: { labels } }));
      await shows(world, '1 ready');
      await world.merge('services', 'web', { metadata: { labels: { team: 'b', more: 'x' } } });
      const labeled = (objects: { metadata: { labels?: Record<string, string> } }[]) =>
        objects.every(({ metadata }) => metadata.labels?.more === 'x');
      await world.untilList('endpointslices', labeled, 'the labels on slices');
      await world.untilList('endpoints', labeled, 'the labels on Endpoints');
    },
  },
  {
    name: 'two families of addresses, and one given up',
    async play(world) {
      await pod(world, 'web-1', { ips: ['10.1.0.1', 'fd00::1'] });
      await pod(world, 'web-2', { ips: ['10.1.0.2'] });
      await world.create(
        service({ ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6', 'IPv4'] }),
      );
      await slicesHold(world, '3 ready', 2);
      await endpointsHold(world, '1 ready');
      const policy = { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv6'] };
      const { clusterIP } = (await world.get('services', 'web')).spec;
      await edit(world, { ...policy, clusterIPs: [clusterIP] });
      await slicesHold(world, '1 ready', 1);
    },
  },
];

const HANDS: readonly Scenario[] = [
  {
    name: 'the selector changes',
    async play(world) {
      await pods(world, 2);
      await pod(world, 'db-3', { labels: { app: 'db' } });
      await world.create(service());
      await shows(world, '2 ready');
      await edit(world, { selector: { app: 'db' } });
      await shows(world, '1 ready');
    },
  },
  {
    name: 'labels of pods change',
    async play(world) {
      await pods(world, 2);
      await world.create(service());
      await shows(world, '2 ready');
      await world.merge('pods', 'web-1', { metadata: { labels: { app: 'debug' } } });
      await shows(world, '1 ready');
      await world.merge('pods', 'web-1', { metadata: { labels: { app: 'web' } } });
      await shows(world, '2 ready');
    },
  },
  {
    name: 'a slice is edited and deleted by hand, and repaired',
    async play(world) {
      await pods(world, 2);
      await world.create(service());
      await shows(world, '2 ready', 1);
      const name = await onlySlice(world);
      await world.merge('endpointslices', name, { endpoints: [] });
      await slicesHold(world, '2 ready', 1);
      await world.api.remove('endpointslices', world.namespace, await onlySlice(world));
      await slicesHold(world, '2 ready', 1);
    },
  },
  {
    name: 'Endpoints are deleted by hand, and made again',
    async play(world) {
      await pods(world, 1);
      await world.create(service());
      const { metadata } = await endpointsHold(world, '1 ready');
      await world.api.remove('endpoints', world.namespace, 'web');
      await world.until('endpoints', 'web', (now) => now.metadata.uid !== metadata.uid);
    },
  },
  {
    name: 'Endpoints edited by hand stay until something changes',
    async play(world) {
      await pods(world, 1);
      await world.create(service());
      await endpointsHold(world, '1 ready');
      await world.merge('endpoints', 'web', { subsets: [], metadata: { annotations: { a: 'b' } } });
      await pod(world, 'web-2', { readyAt: LATER });
      await shows(world, '2 ready');
    },
  },
  {
    name: 'a Service loses its selector: all stays as it was',
    async play(world) {
      await pods(world, 1);
      await world.create(service());
      await shows(world, '1 ready');
      await edit(world, { selector: null });
      await pod(world, 'web-2');
    },
  },
  {
    name: 'a Service becomes an external name: all stays as it was',
    async play(world) {
      await pods(world, 1);
      await world.create(service());
      await shows(world, '1 ready');
      await edit(world, { type: 'ExternalName', externalName: 'a.example', clusterIP: null });
      await endPod(world, 'web-1');
    },
  },
  {
    name: 'a Service is deleted, and made anew',
    async play(world) {
      const gone = (objects: unknown[]) => objects.length === 0;
      await pods(world, 1);
      await world.create(service());
      await shows(world, '1 ready');
      await world.api.remove('services', world.namespace, 'web');
      await world.untilList('endpoints', gone, 'no Endpoints');
      await world.untilList('endpointslices', gone, 'no slices');
      await world.create(service());
      await shows(world, '1 ready', 1);
    },
  },
];

const MODE = 'service.kubernetes.io/topology-mode';

/** Asks for hints by the CPUs of zones, or takes that back. */
async function askForHints(world: World, mode: 'Auto' | null = 'Auto'): Promise<void> {
  await world.merge('services', 'web', { metadata: { annotations: { [MODE]: mode } } });
}

/** Waits until the Service was told of. */
async function told(world: World, reason: string): Promise<void> {
  await world.untilList('events', (all) => all.some((one) => one.reason === reason), reason);
}

/** One pod in each of these zones. */
async function spread(world: World, ...zones: string[]): Promise<void> {
  for (const [at, zone] of zones.entries()) {
    await pod(world, `web-${at + 1}`, { node: `node-${zone}` });
  }
}

const HINTS: readonly Scenario[] = [
  {
    name: 'trafficDistribution: same zone, same node, and none',
    async play(world) {
      await spread(world, 'a', 'b', '0');
      const hints = (text: string) =>
        world.untilList(
          'endpointslices',
          (slices) => JSON.stringify(slices).includes(text) === (text !== 'none'),
          `hints ${text}`,
        );
      await world.create(service({ trafficDistribution: 'PreferSameZone' }));
      await shows(world, '3 ready');
      await hints('forZones');
      await edit(world, { trafficDistribution: 'PreferSameNode' });
      await hints('forNodes');
      await podStatus(world, 'web-1', { ready: false });
      await shows(world, '2 ready, 1 not');
    },
  },
  {
    name: 'trafficDistribution is taken back',
    async play(world) {
      await spread(world, 'a', 'b');
      await world.create(service({ trafficDistribution: 'PreferClose' }));
      await shows(world, '2 ready');
      await edit(world, { trafficDistribution: null });
      const free = (slices: unknown[]) => !JSON.stringify(slices).includes('"hints"');
      await world.untilList('endpointslices', free, 'no hints');
    },
  },
  {
    name: 'hints by the CPUs of zones come and go with their events',
    async play(world) {
      await spread(world, 'a', 'b', 'c');
      await world.create(service());
      await shows(world, '3 ready');
      await askForHints(world);
      await told(world, 'TopologyAwareHintsEnabled');
      await askForHints(world, null);
      await told(world, 'TopologyAwareHintsDisabled');
    },
  },
  {
    name: 'hints by the CPUs of zones send one zone’s endpoints to the others',
    async play(world) {
      await spread(world, 'c', 'c', 'c');
      await world.create(service());
      await shows(world, '3 ready');
      await askForHints(world);
      await told(world, 'TopologyAwareHintsEnabled');
    },
  },
  {
    name: 'too few endpoints for hints by the CPUs of zones',
    async play(world) {
      await spread(world, 'a', 'b');
      await world.create(service());
      await shows(world, '2 ready');
      await askForHints(world);
      await told(world, 'TopologyAwareHintsDisabled');
    },
  },
  {
    name: 'an endpoint without a zone forbids hints by the CPUs of zones',
    async play(world) {
      await spread(world, 'a', 'b', 'c', 'a', 'b', '0');
      await world.create(service());
      await shows(world, '6 ready', 2);
      await askForHints(world);
      await told(world, 'TopologyAwareHintsDisabled');
    },
  },
];

export const SERVICES: readonly Scenario[] = [...BASICS, ...SHAPES, ...HANDS, ...HINTS];
