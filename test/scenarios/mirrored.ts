/** What users do with Endpoints that they write themselves: slices are mirrored from them. */
import type { Obj } from '../rig/index.ts';
import { ofService, pods, service, slicesHold } from './service-world.ts';
import type { Fields, Scenario, World } from './world.ts';

const SKIP = 'endpointslice.kubernetes.io/skip-mirror';
const HTTP = { name: 'http', port: 80, protocol: 'TCP' };
const HTTPS = { name: 'https', port: 443, protocol: 'TCP', appProtocol: 'https' };

function endpoints(subsets: Fields[], metadata: Fields = {}): Fields {
  return { apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'web', ...metadata }, subsets };
}

function subset(ips: readonly string[], ports: Fields[] = [HTTP], notReady: string[] = []): Fields {
  const address = (ip: string): Fields => ({ ip, nodeName: 'node-a' });
  return {
    addresses: ips.map(address),
    ...(notReady.length > 0 ? { notReadyAddresses: notReady.map(address) } : {}),
    ports,
  };
}

/** A Service without selector. */
function bare(): Fields {
  return service({ selector: null });
}

async function noSlices(world: World): Promise<void> {
  const isNone = (slices: Parameters<typeof ofService>[0]) => ofService(slices).length === 0;
  await world.untilList('endpointslices', isNone, 'no slices');
}

export const MIRRORED: readonly Scenario[] = [
  {
    name: 'Endpoints are mirrored, and followed',
    async play(world) {
      await world.create(bare());
      await world.create(endpoints([subset(['10.9.0.1', '10.9.0.2'], [HTTP], ['10.9.0.3'])]));
      await slicesHold(world, '2 ready, 1 not', 1);
      await world.merge('endpoints', 'web', { subsets: [subset(['10.9.0.1'])] });
      await slicesHold(world, '1 ready', 1);
      await world.merge('endpoints', 'web', { subsets: [subset(['10.9.0.1'], [HTTPS])] });
      const moved = (slices: Obj[]) => slices[0]?.ports?.[0]?.port === 443;
      await world.untilList('endpointslices', moved, 'the other port');
    },
  },
  {
    name: 'Endpoints come before their Service',
    async play(world) {
      await world.create(endpoints([subset(['10.9.0.1'])]));
      await world.create(bare());
      await slicesHold(world, '1 ready', 1);
    },
  },
  {
    name: 'several subsets, and both families',
    async play(world) {
      await world.create(bare());
      await world.create(
        endpoints([
          subset(['10.9.0.1', 'fd00::1'], [HTTP, HTTPS]),
          subset(['10.9.0.2'], [HTTP]),
          subset(['10.9.0.3', '10.9.0.2'], [{ name: 'dns', port: 53, protocol: 'UDP' }]),
        ]),
      );
      await slicesHold(world, '7 ready', 5);
    },
  },
  {
    name: 'labels and annotations are mirrored, but for some',
    async play(world) {
      const annotations = {
        note: 'x',
        'kubectl.kubernetes.io/last-applied-configuration': '{}',
        'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01T00:00:00Z',
      };
      await world.create(bare());
      await world.create(endpoints([subset(['10.9.0.1'])], { labels: { team: 'a' }, annotations }));
      await slicesHold(world, '1 ready', 1);
      const metadata = { labels: { team: 'b' }, annotations: { note: null, more: 'y' } };
      await world.merge('endpoints', 'web', { metadata });
      const followed = (slices: Obj[]) => slices[0]?.metadata.annotations?.more === 'y';
      await world.untilList('endpointslices', followed, 'the annotation');
    },
  },
  {
    name: 'more addresses than are mirrored: an event says so',
    async play(world) {
      const ips = [1, 2, 3, 4, 5, 6].map((host) => `10.9.0.${host}`);
      await world.create(bare());
      await world.create(endpoints([subset(ips, [HTTP], ['10.9.0.7'])]));
      await slicesHold(world, '4 ready', 1);
      await world.untilList('events', (events) => events.length > 0, 'an event');
    },
  },
  {
    name: 'the label that forbids mirroring comes and goes',
    async play(world) {
      await world.create(bare());
      await world.create(endpoints([subset(['10.9.0.1'])]));
      await slicesHold(world, '1 ready', 1);
      await world.merge('endpoints', 'web', { metadata: { labels: { [SKIP]: 'true' } } });
      await noSlices(world);
      await world.merge('endpoints', 'web', { metadata: { labels: { [SKIP]: null } } });
      await slicesHold(world, '1 ready', 1);
    },
  },
  {
    name: 'the Service gets a selector: slices are made from pods',
    async play(world) {
      await pods(world, 2);
      await world.create(bare());
      await world.create(endpoints([subset(['10.9.0.1'])]));
      await slicesHold(world, '1 ready', 1);
      await world.merge('services', 'web', { spec: { selector: { app: 'web' } } });
      await slicesHold(world, '2 ready', 1);
    },
  },
  {
    name: 'Endpoints go, and their Service goes',
    async play(world) {
      await world.create(bare());
      await world.create(endpoints([subset(['10.9.0.1'])]));
      await slicesHold(world, '1 ready', 1);
      await world.api.remove('endpoints', world.namespace, 'web');
      await noSlices(world);
      await world.create(endpoints([subset(['10.9.0.1'])]));
      await slicesHold(world, '1 ready', 1);
      await world.api.remove('services', world.namespace, 'web');
      await noSlices(world);
      await world.untilList('endpoints', (all) => all.length === 0, 'no Endpoints');
    },
  },
];
