/**
 * What others broke: APIs that do not answer, owners that cannot be. The managers tell of it in the
 * same words, and everything else goes on.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  always,
  type Cluster,
  eventually,
  type Manager,
  type Obj,
  simulateNodes,
  startCluster,
} from '../rig/index.ts';
import { deployment, type Fields, World } from '../scenarios/world.ts';
import { breakApis, mendApis, relic } from './broken-apis.ts';

setDefaultTimeout(150_000);

/** Both wait 30 s for caches that never fill; then they go on. */
const TIMEOUT_MS = 120_000;
const NOWHERE = {
  apiVersion: 'nowhere.example.com/v1',
  kind: 'Nothing',
  name: 'nobody',
  uid: '7e57ab1e-0000-4000-8000-000000000001',
};

/** One manager on a cluster with broken APIs that were there before it. */
interface Side {
  readonly name: 'reference' | 'holdfast';
  readonly world: World;
  readonly other: World;
  readonly manager: Manager;
}

let clusters: readonly Cluster[] = [];
let sides: readonly Side[] = [];

beforeAll(async () => {
  clusters = await Promise.all([startCluster({ audit: false }), startCluster({ audit: false })]);
  sides = await Promise.all([open(clusters[0], 'reference'), open(clusters[1], 'holdfast')]);
});

afterAll(async () => {
  await Promise.all(clusters.map((cluster) => cluster.stop()));
});

async function open(cluster: Cluster | undefined, name: Side['name']): Promise<Side> {
  if (cluster === undefined) throw new Error('the cluster did not start');
  await simulateNodes(cluster, { count: 1, clearTaint: true, bind: true });
  await breakApis(cluster);
  const world = new World(cluster, await cluster.namespace('bad', true));
  const other = new World(cluster, await cluster.namespace('other', true));
  await world.create(relic('of-nobody', { ownerReferences: [NOWHERE] }));
  const options = { flags: ['-v=2'] };
  const manager = await (name === 'reference'
    ? cluster.startReference(options)
    : cluster.startHoldfast(options));
  await manager.waitServing();
  return { name, world, other, manager };
}

/** Lets both sides do the same at the same time; gives what each came to, the reference's first. */
function both<T>(play: (side: Side) => Promise<T>): Promise<T[]> {
  return Promise.all(sides.map(play));
}

function configMap(name: string, owners: readonly Fields[] = []): Fields {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ownerReferences: owners } };
}

function referenceTo({ apiVersion, kind, metadata }: Obj): Fields {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid };
}

async function untilGone(world: World, name: string): Promise<void> {
  const options = { timeoutMs: TIMEOUT_MS };
  await world.api.waitGone('configmaps', world.namespace, name, options);
}

const namesIn = (objects: Obj[]): string[] => objects.map(({ metadata }) => metadata.name).sort();

describe('with an API that nobody can list and one that is down', () => {
  test('a Deployment rolls out', async () => {
    await both(async ({ world }) => {
      await world.create(deployment(3));
      await world.rolledOut();
    });
  });

  test('garbage is collected', async () => {
    await both(async ({ world }) => {
      const owner = await world.create(configMap('owner'));
      await world.create(configMap('owned', [referenceTo(owner)]));
      await world.api.remove('configmaps', world.namespace, 'owner');
      await untilGone(world, 'owned');
    });
  });

  test('quotas count: those of Holdfast, for the reference waits for all caches', async () => {
    const [, { world }] = sides as [Side, Side];
    const hard = { pods: '9', 'count/configmaps': '9', 'count/relics.example.com': '9' };
    const metadata = { name: 'q' };
    await world.create({ apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec: { hard } });
    const { status } = await eventually(
      async () => {
        const quota = await world.get('resourcequotas', 'q');
        return quota.status?.used?.pods === undefined ? undefined : quota;
      },
      { timeoutMs: TIMEOUT_MS, describe: 'a counted quota' },
    );
    expect(status.used.pods).toBe('3');
    expect(status.used['count/relics.example.com']).toBeUndefined();
    await world.merge('deployments', 'web', { spec: { replicas: 1 } });
    await world.until('resourcequotas', 'q', (quota) => quota.status.used.pods === '1');
  });

  test('both tell what they cannot discover', async () => {
    await both(async ({ manager, name }) => {
      const words = { reference: 'failed to discover some groups', holdfast: 'Failed to discover' };
      await eventually(() => manager.log().includes(words[name]), { timeoutMs: TIMEOUT_MS });
      await eventually(() => manager.log().includes('rror during resource discovery'));
      // The reference counts it when it has waited for its caches in vain.
      const isCounted = async (): Promise<boolean> =>
        /^garbagecollector_controller_resources_sync_error_total [1-9]/m.test(
          await manager.metrics(),
        );
      await eventually(isCounted, { timeoutMs: TIMEOUT_MS, describe: 'the failed round counted' });
    });
  });
});

describe('owners that cannot be', () => {
  test('of a kind that nobody serves: the dependent stays', async () => {
    await both(async ({ world }) => {
      const owner = await world.create(configMap('gone'));
      await world.create(configMap('by-nothing', [NOWHERE]));
      await world.create(configMap('by-both', [NOWHERE, referenceTo(owner)]));
      await world.api.remove('configmaps', world.namespace, 'gone');
      const stay = async (): Promise<boolean> => {
        const names = namesIn(await world.list('configmaps'));
        return names.includes('by-nothing') && names.includes('by-both');
      };
      await always(stay, { forMs: 3_000, describe: 'the dependents' });
    });
  });

  test('in another namespace: told in the same words, and the dependent goes', async () => {
    const told = await both(async ({ world, other }) => {
      const owner = await world.create(configMap('elsewhere'));
      await other.create(configMap('astray', [referenceTo(owner)]));
      await untilGone(other, 'astray');
      const events = await other.untilList(
        'events',
        (all) => all.some(({ reason }) => reason === 'OwnerRefInvalidNamespace'),
        'an event about the namespace',
      );
      return events
        .filter(({ reason }) => reason === 'OwnerRefInvalidNamespace')
        .map(({ type, message, source, involvedObject }) => {
          const text = (message as string).replace(owner.metadata.uid, 'UID');
          return [type, text, source, involvedObject.kind, involvedObject.name];
        });
    });
    expect(told[1]).toEqual(told[0] ?? []);
  });
});

describe('a namespace that holds what nobody can list', () => {
  test('says why it stays, in the same words; all else in it goes', async () => {
    const conditions = await both(async ({ world }) => {
      const { api, namespace } = world;
      await api.remove('namespaces', '', namespace);
      // A pass that still finds pods says so under the same reason.
      const isTold = ({ status }: Obj): boolean =>
        (status?.conditions ?? []).some(
          ({ reason, message }: Obj) =>
            reason === 'ContentDeletionFailed' && message.includes('conversion webhook'),
        );
      const options = { timeoutMs: TIMEOUT_MS };
      await world.untilList('pods', (pods) => pods.length === 0, 'no pods');
      await untilGone(world, 'by-nothing');
      const { status } = await api.waitFor('namespaces', '', namespace, isTold, options);
      return status.conditions.map(({ lastTransitionTime: _, ...told }: Fields) => told);
    });
    expect(conditions[1]).toEqual(conditions[0]);
    expect(JSON.stringify(conditions[1])).toContain('DiscoveryFailed');
  });

  test('goes when the APIs are mended', async () => {
    await both(async ({ world, manager }) => {
      await mendApis(world.cluster);
      const options = { timeoutMs: TIMEOUT_MS };
      await world.api.waitGone('namespaces', '', world.namespace, options);
      expect(manager.running).toBe(true);
    });
  });
});
