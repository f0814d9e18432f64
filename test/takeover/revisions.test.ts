/**
 * StatefulSets and DaemonSets go from the reference manager to Holdfast and back. Both tell an old
 * pod from a new one by the bytes of a revision: one byte of difference would restart every pod.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type Cluster, type Manager, simulateNodes, startCluster } from '../rig/index.ts';
import { type Fields, template, World } from '../scenarios/world.ts';
import { versionsOf } from './versions.ts';

setDefaultTimeout(180_000);

const CONTROLLERS = [
  'statefulset',
  'daemonset',
  'serviceaccount',
  'root-ca-certificate-publisher-controller',
].join(',');
const FLAGS = [
  `--controllers=${CONTROLLERS}`,
  '--leader-elect-lease-duration=3s',
  '--leader-elect-renew-deadline=2s',
  '--leader-elect-retry-period=500ms',
];
/** The reference then compares bytes only, as it always does for DaemonSets. */
const BYTES_ONLY = [...FLAGS, '--feature-gates=StatefulSetSemanticRevisionComparison=false'];
const WATCHED = [
  'pods',
  'statefulsets',
  'daemonsets',
  'controllerrevisions',
  'persistentvolumeclaims',
];
const MARKER = 'marker';
const ANNOTATIONS = {
  note: '<a> & "b" \\ \u2028 é 漢 😀',
  '10': 'ten',
  '9': 'nine',
  B: 'b',
  a: '',
};

let cluster: Cluster;
let world: World;
let marker = 0;

beforeAll(async () => {
  cluster = await startCluster();
  await simulateNodes(cluster, { count: 2, clearTaint: true, bind: true });
  world = new World(cluster, await cluster.namespace('takeover'));
});

afterAll(async () => {
  await cluster.stop();
});

function podOf(app: string, version: string): Fields {
  const tolerations = [
    { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 4_000_000_000 },
    { key: 'b', value: 'b', effect: 'NoSchedule' },
  ];
  const volumes = [{ name: 'scratch', emptyDir: { sizeLimit: '1536Mi' } }];
  const fields = { annotations: ANNOTATIONS, tolerations, volumes };
  return template(version, fields, { app });
}

function statefulSet(name: string, replicas: number): Fields {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  const selector = { matchLabels: { app: name } };
  const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec }];
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name },
    spec: { replicas, selector, template: podOf(name, '1'), volumeClaimTemplates },
  };
}

const daemonSet: Fields = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'agent', annotations: { team: '<ops>' } },
  spec: { selector: { matchLabels: { app: 'agent' } }, template: podOf('agent', '1') },
};

async function settled(name = 'web', replicas = 3): Promise<void> {
  await world.until('statefulsets', name, ({ metadata, status }) => {
    const current = status?.observedGeneration === metadata.generation;
    const counts = [status?.readyReplicas, status?.updatedReplicas, status?.currentReplicas];
    return current && counts.every((count) => count === replicas);
  });
}

async function served(): Promise<void> {
  await world.until('daemonsets', 'agent', ({ metadata, status }) => {
    const current = status.observedGeneration === metadata.generation;
    return current && status.numberAvailable === 2 && status.updatedNumberScheduled === 2;
  });
}

async function change(version: string): Promise<void> {
  await world.merge('statefulsets', 'web', { spec: { template: podOf('web', version) } });
  await world.merge('daemonsets', 'agent', { spec: { template: podOf('agent', version) } });
  await Promise.all([settled(), served()]);
}

/** The manager leads and works: it makes a StatefulSet of its own. */
async function works(manager: Manager): Promise<void> {
  const name = `${MARKER}-${++marker}`;
  await world.create(statefulSet(name, 1));
  await settled(name, 1).catch((error: Error) => {
    throw new Error(`${manager.name} does not work: ${error.message}\n${manager.tail()}`);
  });
}

/** Name, UID and version of everything a manager might have rewritten. */
function versions(): Promise<string[]> {
  return versionsOf(world, WATCHED, (name) => name.includes(MARKER));
}

test('what either made is neither restarted nor rewritten by the other', async () => {
  const first = await cluster.startReference({ flags: FLAGS });
  await world.create(statefulSet('web', 3));
  await world.create(daemonSet);
  await Promise.all([settled(), served()]);
  await change('2');
  await works(first);
  const byReference = await versions();
  first.kill('SIGKILL');
  await first.waitExit();

  const holdfast = await cluster.startHoldfast({ flags: FLAGS });
  await works(holdfast);
  expect(await versions()).toEqual(byReference);
  await change('3');
  await change('1');
  const byHoldfast = await versions();
  expect(await holdfast.stop()).toMatchObject({ code: 0 });

  const second = await cluster.startReference({ flags: BYTES_ONLY });
  await works(second);
  expect(await versions()).toEqual(byHoldfast);
});
