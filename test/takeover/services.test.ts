/**
 * Endpoints and slices go from the reference manager to Holdfast and back: nothing that was right is
 * written. A Holdfast that was killed goes on from its file: no slice is made twice, none is lost.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { atRest, type Cluster, type Manager, startCluster } from '../rig/index.ts';
import {
  createNodes,
  endPod,
  endpointsHold,
  pod,
  podStatus,
  pods,
  service,
  shows,
  slicesHold,
} from '../scenarios/service-world.ts';
import { World } from '../scenarios/world.ts';
import { backAndForth, versionsOf } from './versions.ts';

setDefaultTimeout(180_000);

const CALM_LOOKS = 5;
const CALM_EVERY_MS = 500;
const FLAGS = [
  '--controllers=endpoint,endpointslice,endpointslicemirroring',
  '--max-endpoints-per-slice=3',
  '--leader-elect-lease-duration=3s',
  '--leader-elect-renew-deadline=2s',
  '--leader-elect-retry-period=500ms',
];
const MARKER = 'marker';
const HINTS = { 'service.kubernetes.io/topology-mode': 'Auto' };

let cluster: Cluster;
let world: World;
let marker = 0;

beforeAll(async () => {
  cluster = await startCluster();
  await createNodes(cluster);
  world = new World(cluster, await cluster.namespace('takeover'));
});

afterAll(async () => {
  await cluster.stop();
});

/** Name, UID and version of every Endpoints object and slice but those of markers. */
function versions(): Promise<string[]> {
  return versionsOf(world, ['endpoints', 'endpointslices'], (name) => name.startsWith(MARKER));
}

/** The manager leads and has looked at everything: a new Service is served by all its controllers. */
async function works(manager: Manager): Promise<void> {
  const name = `${MARKER}-${++marker}`;
  await world.create(service({ selector: { app: 'nobody' } }, name));
  const served = async (): Promise<boolean> => {
    await endpointsHold(world, '0 ready', name);
    await slicesHold(world, '0 ready', 1, name);
    return true;
  };
  await served().catch((error: Error) => {
    throw new Error(`${manager.name} does not work: ${error.message}\n${manager.tail()}`);
  });
}

/** Services of all shapes, with pods, and one that people serve themselves. */
async function furnish(): Promise<void> {
  await pods(world, 7, { ports: { http: 8080 } });
  await pod(world, 'web-8', { node: 'node-b', ready: false });
  await pod(world, 'web-9', { node: 'node-c' });
  const ports = [
    { name: 'http', port: 80, targetPort: 8080, appProtocol: 'http' },
    { name: 'named', port: 81, targetPort: 'http' },
  ];
  await world.create(service({ ports, trafficDistribution: 'PreferSameZone' }));
  await world.create(
    service({ clusterIP: 'None', metadata: { labels: { team: 'a' } } }, 'headless'),
  );
  await world.create(service({ metadata: { annotations: HINTS } }, 'auto'));
  await world.create(service({ selector: { app: 'none' } }, 'empty'));
  await world.create(service({ selector: null }, 'own'));
  const subsets = [{ addresses: [{ ip: '10.9.0.1' }], ports: [{ port: 80 }] }];
  await world.create({ apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'own' }, subsets });
  for (const name of ['web', 'headless', 'auto']) {
    await slicesHold(world, '8 ready, 1 not', undefined, name);
  }
  await slicesHold(world, '1 ready', 1, 'own');
  await endpointsHold(world, '8 ready, 1 not', 'auto');
}

/** The same versions for a while: the last syncs are over. */
function settled(): Promise<string[]> {
  const options = { looks: CALM_LOOKS, everyMs: CALM_EVERY_MS, describe: 'versions at rest' };
  return atRest(() => versions(), options);
}

test('taken over and given back, no Endpoints and no slice is touched', async () => {
  const estate = { cluster, flags: FLAGS, furnish, works, versions: settled };
  const reference = await backAndForth(estate);
  reference.kill('SIGKILL');
  await reference.waitExit();
});

test.each([['kept'], ['lost']])(
  'killed again and again while pods come and go, its memory %s, it neither loses nor doubles an address',
  async (memory) => {
    world = new World(cluster, await cluster.namespace('killed'));
    let holdfast = await cluster.startHoldfast({ flags: FLAGS });
    await pods(world, 8);
    await world.create(service());
    await shows(world, '8 ready', 3);
    const { stateDir, runtimeDir } = holdfast;
    const folders = memory === 'kept' ? { stateDir, runtimeDir } : {};
    for (let round = 0; round < 4; round++) {
      const changes = (async () => {
        await endPod(world, `web-${round + 1}`);
        await pod(world, `web-${round + 21}`);
        await podStatus(world, 'web-8', { ready: round % 2 === 1 });
        await pod(world, `web-${round + 41}`);
      })();
      await Bun.sleep(40 * round);
      holdfast.kill('SIGKILL');
      await holdfast.waitExit();
      await changes;
      holdfast = await cluster.startHoldfast({ flags: FLAGS, ...folders });
      const ready = 8 + round + (round % 2);
      await shows(world, round % 2 === 1 ? `${ready} ready` : `${ready} ready, 1 not`);
      const addresses = (
        await slicesHold(world, round % 2 === 1 ? `${ready} ready` : `${ready} ready, 1 not`)
      )
        .flatMap((slice) => slice.endpoints ?? [])
        .map((endpoint) => endpoint.addresses[0]);
      expect(new Set(addresses).size).toBe(addresses.length);
    }
    await holdfast.stop();
  },
);
