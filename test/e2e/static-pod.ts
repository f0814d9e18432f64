/** The story of packaging/kubernetes: a kubeadm node's manager becomes Holdfast, and KCM again. */
import { expect } from 'bun:test';
import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  atRest,
  binary,
  type Cluster,
  eventually,
  type Obj,
  REPOSITORY,
  startCluster,
} from '../rig/index.ts';
import { Ledger } from '../scenarios/ledger.ts';
import { deployment, World } from '../scenarios/world.ts';
import { versionsOf } from '../takeover/versions.ts';
import { buildCommand, glibcBase, imageOf } from './containerfile.ts';
import { writeImage } from './images.ts';
import { processesOfContainer } from './machine.ts';
import { RealNode } from './real-node.ts';
import { labels, PATIENCE, server, service, writeImages } from './stage.ts';

const PACKAGING = join(REPOSITORY, 'packaging', 'kubernetes');
const NODE = 'node-c';
const KCM_IMAGE = 'holdfast.test/kube-controller-manager:1';
const KCM_FILE = 'kube-controller-manager.yaml';
const HOLDFAST_FILE = 'holdfast.yaml';
const MARKER = 'marker';
const WATCHED = [
  'replicasets',
  'deployments',
  'services',
  'endpoints',
  'endpointslices',
  'configmaps',
  'serviceaccounts',
];
const REPLICAS = 3;
const MORE = 5;
/** Kubelets tell of pods, and managers of their events, within this. */
const REST = { looks: 10, everyMs: 300 };
const TOLD_CHARACTERS = 3_000;

/** A cluster of one node, whose kubelet runs the manager. */
interface Box {
  readonly cluster: Cluster;
  readonly node: RealNode;
  readonly world: World;
  readonly ledger: Ledger;
  /** Who held the Lease, one after the other; "" is nobody. */
  readonly holders: readonly string[];
  /** Its /etc/kubernetes. */
  readonly kubernetes: string;
  readonly machineId: string;
}

/** The image that a person makes by the command in Containerfile's first lines, of dist/holdfast. */
function writeHoldfastImage(folder: string): void {
  const text = readFileSync(join(PACKAGING, 'Containerfile'), 'utf8');
  const { program, tag } = buildCommand(text);
  const image = imageOf(text, {
    args: { BINARY: program },
    base(name) {
      expect(name).toBe('gcr.io/distroless/base-nossl-debian12');
      return glibcBase();
    },
    file(name) {
      expect(name).toBe(program);
      return readFileSync(join(REPOSITORY, 'dist', 'holdfast'));
    },
  });
  writeImage(join(folder, 'holdfast.tar'), { ...image, tag });
}

async function writeReferenceImage(folder: string): Promise<void> {
  const content = readFileSync(await binary('kube-controller-manager'));
  writeImage(join(folder, 'reference.tar'), {
    tag: KCM_IMAGE,
    layers: [[{ path: 'usr/local/bin/kube-controller-manager', content, mode: 0o755 }]],
    entrypoint: [],
    env: ['PATH=/usr/local/bin'],
  });
}

/** kube-controller-manager's manifest as kubeadm writes it. */
function referenceManifest(): object {
  const etc = '/etc/kubernetes';
  const kubeconfig = `${etc}/controller-manager.conf`;
  const pki = `${etc}/pki`;
  const command = [
    'kube-controller-manager',
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    '--bind-address=127.0.0.1',
    `--client-ca-file=${pki}/ca.crt`,
    '--cluster-name=kubernetes',
    `--cluster-signing-cert-file=${pki}/ca.crt`,
    `--cluster-signing-key-file=${pki}/ca.key`,
    '--controllers=*,bootstrapsigner,tokencleaner',
    `--kubeconfig=${kubeconfig}`,
    '--leader-elect=true',
    `--requestheader-client-ca-file=${pki}/front-proxy-ca.crt`,
    `--root-ca-file=${pki}/ca.crt`,
    `--service-account-private-key-file=${pki}/sa.key`,
    '--use-service-account-credentials=true',
  ];
  const httpGet = { host: '127.0.0.1', path: '/healthz', port: 10257, scheme: 'HTTPS' };
  const probe = { httpGet, initialDelaySeconds: 10, periodSeconds: 10, timeoutSeconds: 15 };
  const container = {
    name: 'kube-controller-manager',
    image: KCM_IMAGE,
    imagePullPolicy: 'Never',
    command,
    startupProbe: { ...probe, failureThreshold: 24 },
    livenessProbe: { ...probe, failureThreshold: 8 },
    volumeMounts: [{ name: 'etc', mountPath: etc, readOnly: true }],
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'kube-controller-manager',
      namespace: 'kube-system',
      labels: { component: 'kube-controller-manager', tier: 'control-plane' },
    },
    spec: {
      hostNetwork: true,
      priorityClassName: 'system-node-critical',
      containers: [container],
      volumes: [{ name: 'etc', hostPath: { path: etc, type: 'Directory' } }],
    },
  };
}

/** /etc/kubernetes as kubeadm fills it, as far as a manager needs it. */
function furnish(kubernetes: string, cluster: Cluster): void {
  const { ca, caKey, serviceAccountKey, frontProxyCa } = cluster.files;
  for (const name of ['manifests', 'pki']) {
    mkdirSync(join(kubernetes, name), { recursive: true, mode: 0o755 });
  }
  const files = {
    'pki/ca.crt': ca,
    'pki/ca.key': caKey,
    'pki/sa.key': serviceAccountKey,
    'pki/front-proxy-ca.crt': frontProxyCa,
    'controller-manager.conf': cluster.kubeconfig('kube-controller-manager'),
  };
  for (const [name, from] of Object.entries(files)) {
    writeFileSync(join(kubernetes, name), readFileSync(from), { mode: 0o600 });
  }
  writeFileSync(join(kubernetes, 'manifests', KCM_FILE), JSON.stringify(referenceManifest()));
}

async function setUp(cluster: Cluster): Promise<Box> {
  const dir = join(cluster.dir, NODE);
  const kubernetes = join(dir, 'kubernetes');
  furnish(kubernetes, cluster);
  writeImages(cluster.dir);
  writeHoldfastImage(join(cluster.dir, 'images'));
  await writeReferenceImage(join(cluster.dir, 'images'));
  // The node is a machine of its own.
  mkdirSync(join(dir, 'over', 'etc'), { recursive: true });
  const machineId = crypto.randomUUID().replaceAll('-', '');
  writeFileSync(join(dir, 'over', 'etc', 'machine-id'), `${machineId}\n`);
  await cluster.startScheduler();
  const holders = followLease(cluster);
  const node = await RealNode.start(cluster, { name: NODE, index: 3, staticPods: true });
  const world = new World(cluster, await cluster.namespace('box'), PATIENCE.timeoutMs);
  const ledger = new Ledger(cluster.api, world.namespace);
  cluster.onStop(() => ledger.stop());
  return { cluster, node, world, ledger, holders, kubernetes, machineId };
}

/** Notes who holds the Lease, until the cluster stops. */
function followLease(cluster: Cluster): readonly string[] {
  const holders: string[] = [];
  const stop = new AbortController();
  cluster.onStop(() => stop.abort());
  const read = async (): Promise<void> => {
    const query = { fieldSelector: 'metadata.name=kube-controller-manager' };
    const events = cluster.api.watch('leases', 'kube-system', query, stop.signal);
    for await (const { object } of events) {
      const now: string = object.spec.holderIdentity ?? '';
      if (now !== holders.at(-1)) holders.push(now);
    }
  };
  const note = (error: unknown): void => void holders.push(`the watch failed: ${error}`);
  read().catch((error) => (stop.signal.aborted ? undefined : note(error)));
  return holders;
}

/** Waits until the Lease has gone through so many hands. */
async function held({ holders }: Box, count: number): Promise<void> {
  const describe = `the Lease has had ${count} holders`;
  await eventually(() => holders.length >= count, { ...PATIENCE, describe });
}

/** Waits until a static pod is ready, its container started again so often; gives its API object. */
function running({ cluster }: Box, name: string, restarts?: number): Promise<Obj> {
  const wanted = (pod: Obj): boolean => {
    const isCount = restarts === undefined || restartsOf(pod) === restarts;
    return isCount && pod.status?.containerStatuses?.[0]?.ready === true;
  };
  const options = { ...PATIENCE, describe: `${name} is ready` };
  return cluster.api.waitFor('pods', 'kube-system', `${name}-${NODE}`, wanted, options);
}

function restartsOf({ status }: Obj): number {
  return status?.containerStatuses?.[0]?.restartCount ?? 0;
}

function ended({ cluster }: Box, name: string): Promise<unknown> {
  return cluster.api.waitGone('pods', 'kube-system', `${name}-${NODE}`, PATIENCE);
}

/** Takes a manifest away from the kubelet, and gives it another one. */
function swapManifests({ kubernetes }: Box, away: string, copyNew: (to: string) => void): void {
  renameSync(join(kubernetes, 'manifests', away), join(kubernetes, away));
  copyNew(join(kubernetes, 'manifests'));
}

/** Whoever leads rolls out a Deployment of its own. */
async function works({ world }: Box, serial: number): Promise<void> {
  const name = `${MARKER}-${serial}`;
  const fields = { selector: { matchLabels: labels(name) }, template: server(name, '1') };
  await world.create(deployment(1, fields, name));
  await world.rolledOut(name);
}

function isWeb({ metadata }: Obj): boolean {
  return metadata.labels?.app === 'web';
}

/** The Deployment's pods with their containers: a restart gives a container another number. */
async function podsAndContainers({ world }: Box): Promise<string[]> {
  const pods = (await world.list('pods')).filter(isWeb);
  return pods
    .map(({ metadata, status }) => {
      const { containerID, restartCount } = status.containerStatuses[0];
      return `${metadata.name} ${metadata.uid} ${containerID} ${restartCount}`;
    })
    .sort();
}

/** What must not be written, and the pods, once nothing moves. */
function estate(box: Box): Promise<string[]> {
  const isExempt = (name: string) => name.startsWith(MARKER);
  const look = async () => [
    ...(await versionsOf(box.world, WATCHED, isExempt)),
    ...(await podsAndContainers(box)),
  ];
  return atRest(look, { ...PATIENCE, ...REST });
}

/** Who has written to the Deployment's pods since; their kubelet may. */
function writers({ cluster, world }: Box, since: Date): string[] {
  const verb = ['update', 'patch', 'delete', 'deletecollection'];
  const entries = cluster.auditEntries({
    verb,
    resource: 'pods',
    namespace: world.namespace,
    since,
    where: ({ objectRef, user }) =>
      !objectRef?.name?.startsWith(MARKER) && user.username !== `system:node:${NODE}`,
  });
  return entries.map((entry) => `${entry.user.username} ${entry.verb} ${entry.requestURI}`);
}

/** KCM leads and has rolled a Deployment out; its manifest makes room for Holdfast's. */
async function takenOver(box: Box): Promise<void> {
  const { world } = box;
  await running(box, 'kube-controller-manager');
  await world.create(service('web'));
  const fields = { selector: { matchLabels: labels('web') }, template: server('web', '1') };
  await world.create(deployment(REPLICAS, fields));
  await world.rolledOut();
  await works(box, 1);
  const before = await estate(box);
  const since = new Date();
  const { length } = box.holders;
  swapManifests(box, KCM_FILE, (manifests) =>
    copyFileSync(join(PACKAGING, 'static-pod.yaml'), join(manifests, HOLDFAST_FILE)),
  );
  await running(box, 'holdfast');
  await ended(box, 'kube-controller-manager');
  await held(box, length + 1);
  await works(box, 2);
  expect(await estate(box)).toEqual(before);

  const pods = await podsAndContainers(box);
  await world.merge('deployments', 'web', { spec: { replicas: MORE } });
  await world.rolledOut();
  expect(await podsAndContainers(box)).toEqual(expect.arrayContaining(pods));
  expect(writers(box, since)).toEqual([]);
}

/** What the manager in a container has written down about the Lease that it holds. */
function recordOf(id: number): object {
  const file = 'run/holdfast/lease-kube-system-kube-controller-manager.json';
  return JSON.parse(readFileSync(`/proc/${id}/root/${file}`, 'utf8')) as object;
}

/** kill -9 of the container's process in the middle of a rollout: the next one goes on with it. */
async function killed(box: Box): Promise<void> {
  const { world, ledger, node, holders } = box;
  const pod = await running(box, 'holdfast');
  const { containerID } = pod.status.containerStatuses[0];
  const lease = node.exec(containerID, ['holdfast', 'state', 'lease']);
  expect(lease).toContain(holders.at(-1) as string);
  await ledger.reach();
  const old = new Set(ledger.of('web').map(({ uid }) => uid));
  const made = () => ledger.of('web').filter(({ uid }) => !old.has(uid));
  const since = new Date();
  await world.merge('deployments', 'web', { spec: { template: server('web', '2') } });
  await eventually(() => made().length > 0, { ...PATIENCE, describe: 'the rollout has begun' });
  const processes = processesOfContainer(containerID);
  expect(processes).toHaveLength(1);
  const [id = 0] = processes;
  expect(recordOf(id)).toMatchObject({ machine: { machineId: box.machineId } });
  process.kill(id, 'SIGKILL');
  const next = await running(box, 'holdfast', restartsOf(pod) + 1);
  expect(next.metadata.uid).toBe(pod.metadata.uid);
  await world.rolledOut();
  await world.untilList('pods', (pods) => pods.filter(isWeb).length === MORE, 'old pods are gone');
  await ledger.reach();
  expect(made()).toHaveLength(MORE);
  expect(made().filter(({ deleting }) => deleting)).toEqual([]);
  // That nobody writes to a pod, as is looked for elsewhere, is something that would be seen.
  expect(writers(box, since).length).toBeGreaterThanOrEqual(MORE);
  expect(await podsAndContainers(box)).toEqual(Array(MORE).fill(expect.stringMatching(/ 0$/)));
  const logs = [...node.podLogs('kube-system_holdfast-*/holdfast/*.log').values()];
  expect(logs.at(-1)).toContain('opened="resumed"');
  expect(logs.at(-1)).toContain('how="instant"');
}

/** As after `kubeadm upgrade`, both manifests are there: KCM finds the port taken, Holdfast works. */
async function upgraded(box: Box): Promise<void> {
  const { cluster, kubernetes, holders } = box;
  const { length } = holders;
  const manifest = join(kubernetes, 'manifests', KCM_FILE);
  const before = restartsOf(await running(box, 'holdfast'));
  copyFileSync(join(kubernetes, KCM_FILE), manifest);
  const inVain = (pod: Obj): boolean => restartsOf(pod) > 0;
  const name = `kube-controller-manager-${NODE}`;
  await cluster.api.waitFor('pods', 'kube-system', name, inVain, PATIENCE);
  await works(box, 3);
  await running(box, 'holdfast', before);
  expect(holders).toHaveLength(length);
  rmSync(manifest);
  await ended(box, 'kube-controller-manager');
}

/** The manifests are swapped back: KCM leads, and finds nothing to do. */
async function givenBack(box: Box): Promise<void> {
  const before = await estate(box);
  const since = new Date();
  const { length } = box.holders;
  swapManifests(box, HOLDFAST_FILE, (manifests) =>
    renameSync(join(box.kubernetes, KCM_FILE), join(manifests, KCM_FILE)),
  );
  await running(box, 'kube-controller-manager');
  await ended(box, 'holdfast');
  await held(box, length + 2);
  expect(box.holders[length]).toBe('');
  await works(box, 4);
  expect(await estate(box)).toEqual(before);
  expect(writers(box, since)).toEqual([]);
}

async function circumstances({ cluster, node }: Box): Promise<string> {
  const pods = await cluster.api.list('pods', 'kube-system');
  const seen = pods.map(({ metadata, status }) => `${metadata.name} ${JSON.stringify(status)}`);
  const logs = [...node.podLogs('kube-system_*/*/*.log')];
  const told = logs.map(([file, text]) => `${file}:\n${text.slice(-TOLD_CHARACTERS)}`);
  return [...seen, node.tell(), ...told].join('\n');
}

/** Holdfast takes the place of KCM on a kubeadm node, is killed, and gives the place back. */
export async function managerIsStaticPod(): Promise<void> {
  await using cluster = await startCluster();
  const box = await setUp(cluster);
  try {
    await takenOver(box);
    await killed(box);
    await upgraded(box);
    await givenBack(box);
  } catch (error) {
    throw new Error(`${error}\n${await circumstances(box)}`, { cause: error });
  }
}
