/** The garbage collector is killed in the middle of its work and started again. */
import {
  afterAll,
  afterEach,
  beforeAll,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { type Cluster, type HoldfastManager, type Obj, startCluster } from '../rig/index.ts';
import { World } from '../scenarios/world.ts';

setDefaultTimeout(180_000);

// Slow enough to be killed in the middle.
const LIMITS = ['--kube-api-qps=10', '--kube-api-burst=10'];
const FLAGS = ['--controllers=garbagecollector,serviceaccount', '-v=2', ...LIMITS];
const DEPENDENTS = 120;
/** Everything else that is followed must be resumed. */
const NEVER_RESUMED = ['leases', 'apiservices'];

let cluster: Cluster;
let holdfast: HoldfastManager;

beforeAll(async () => {
  cluster = await startCluster();
  holdfast = await cluster.startHoldfast({ flags: FLAGS });
  await holdfast.waitServing();
});

afterAll(async () => {
  await cluster.stop();
});

afterEach(async () => {
  if (!holdfast.running) await startAgain();
});

async function startAgain(): Promise<Date> {
  const { stateDir, runtimeDir, port } = holdfast;
  const since = new Date();
  holdfast = await cluster.startHoldfast({ flags: FLAGS, stateDir, runtimeDir, port });
  return since;
}

async function kill(): Promise<void> {
  holdfast.kill('SIGKILL');
  await holdfast.waitExit();
}

/** Resources that were listed whole since then, other than to ask for their version. */
function listed(since: Date): readonly string[] {
  const entries = cluster.auditEntries({ verb: 'list', userAgent: /^holdfast\/\d/, since });
  const names = entries
    .filter(({ requestURI }) => !/limit=1\b|fieldSelector|labelSelector/.test(requestURI))
    .map(({ objectRef }) => objectRef?.resource ?? '');
  return [...new Set(names)].filter((name) => !NEVER_RESUMED.includes(name)).sort();
}

/** A namespace with an owner of many secrets, and one secret that nobody owns. */
async function family(): Promise<World> {
  const world = new World(cluster, await cluster.namespace('family'));
  const owner = await world.create(thing('ConfigMap', 'owner'));
  const { uid } = owner.metadata;
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid };
  const ownerReferences = [{ ...reference, blockOwnerDeletion: true }];
  const names = Array.from({ length: DEPENDENTS }, (_, index) => `s${index}`);
  await Promise.all(names.map((name) => world.create(thing('Secret', name, { ownerReferences }))));
  await world.create(thing('Secret', 'free'));
  return world;
}

function thing(kind: string, name: string, metadata: object = {}) {
  return { apiVersion: 'v1', kind, metadata: { name, ...metadata } };
}

const isOwned = ({ metadata }: Obj): boolean => (metadata.ownerReferences ?? []).length > 0;

async function untilHalf(world: World, left: (secrets: Obj[]) => number): Promise<void> {
  await world.untilList('secrets', (all) => left(all) < DEPENDENTS - 20, 'work under way');
}

async function ownerGone(world: World): Promise<void> {
  const isGone = (maps: Obj[]) => !maps.some(({ metadata }) => metadata.name === 'owner');
  await world.untilList('configmaps', isGone, 'the owner gone');
}

describe('killed in the middle', () => {
  test.each(['Background', 'Foreground'] as const)('of a deletion, %s', async (policy) => {
    const world = await family();
    const propagationPolicy = policy;
    await world.api.remove('configmaps', world.namespace, 'owner', { propagationPolicy });
    await untilHalf(world, (secrets) => secrets.length);
    await kill();
    expect((await world.list('secrets')).length).toBeGreaterThan(1);
    const since = await startAgain();
    await world.untilList('secrets', (all) => all.length === 1, 'only the free secret');
    await ownerGone(world);
    expect((await world.list('secrets')).map(({ metadata }) => metadata.name)).toEqual(['free']);
    expect(listed(since)).toEqual([]);
  });

  test('of orphaning: no dependent is lost', async () => {
    const world = await family();
    const propagationPolicy = 'Orphan';
    await world.api.remove('configmaps', world.namespace, 'owner', { propagationPolicy });
    await untilHalf(world, (secrets) => secrets.filter(isOwned).length);
    await kill();
    expect((await world.list('secrets')).some(isOwned)).toBe(true);
    await startAgain();
    await ownerGone(world);
    const left = await world.list('secrets');
    expect(left).toHaveLength(DEPENDENTS + 1);
    expect(left.filter(isOwned)).toEqual([]);
    expect(left.filter(({ metadata }) => metadata.deletionTimestamp)).toEqual([]);
  });

  test('what happened while it was dead is made good', async () => {
    const world = await family();
    await kill();
    const { namespace } = world;
    await world.api.remove('configmaps', namespace, 'owner', { propagationPolicy: 'Background' });
    await ownerGone(world);
    await startAgain();
    await world.untilList('secrets', (all) => all.length === 1, 'only the free secret');
  });

  test('and the API server restarted meanwhile: everything is compared', async () => {
    const world = await family();
    await kill();
    const { namespace } = world;
    await world.api.remove('configmaps', namespace, 'owner', { propagationPolicy: 'Background' });
    await ownerGone(world);
    await cluster.restartApiServer();
    await startAgain();
    await world.untilList('secrets', (all) => all.length === 1, 'only the free secret');
  });
});
