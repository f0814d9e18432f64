/** The stage of these tests: a control plane, two real nodes, and the compiled Holdfast. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Line } from '../crash/killer.ts';
import { type Cluster, type Obj, startCluster, type WatchEvent } from '../rig/index.ts';
import { diagnose } from '../scenarios/diagnosis.ts';
import { Ledger } from '../scenarios/ledger.ts';
import { type Fields, World } from '../scenarios/world.ts';
import { busyboxLayer, writeImage } from './images.ts';
import { nodeBinaries } from './machine.ts';
import { PAUSE_IMAGE, RealNode } from './real-node.ts';

/** How long a state of real containers is waited for, also on a busy machine. */
export const PATIENCE = { timeoutMs: 150_000 };

const FLAGS = [
  '--controllers=*',
  '--node-monitor-period=1s',
  '--node-monitor-grace-period=16s',
  '--kube-api-qps=200',
  '--kube-api-burst=400',
  '-v=2',
];
const PORT = 8080;
/** Containers take their time on a machine that is busy otherwise. */
const SETTLE_MS = 150_000;

/** Serves /www until it is told to end, which it then does at once. */
const SERVE = `#!/bin/sh
trap 'exit 0' TERM
httpd -f -p ${PORT} -h /www &
wait
`;

/** What a story is handed. */
export interface Stage {
  readonly cluster: Cluster;
  readonly world: World;
  readonly ledger: Ledger;
  readonly line: Line;
  readonly nodes: readonly RealNode[];
}

function image(version: string): string {
  return `holdfast.test/web:${version}`;
}

/**
 * Writes the images of the tests, which a node takes in when it starts: 1 and 2 answer /version with
 * their number, "broken" has nothing to answer with.
 */
export function writeImages(dir: string): void {
  const folder = join(dir, 'images');
  mkdirSync(folder, { recursive: true });
  const pause = readFileSync(join(nodeBinaries(), 'pause'));
  const pauseLayer = [{ path: 'pause', content: pause, mode: 0o755 }];
  writeImage(join(folder, 'pause.tar'), {
    tag: PAUSE_IMAGE,
    layers: [pauseLayer],
    entrypoint: ['/pause'],
  });
  for (const version of ['1', '2', 'broken']) {
    const page = version === 'broken' ? 'nothing' : 'version';
    const own = [
      { path: 'bin/serve', content: SERVE, mode: 0o755 },
      { path: `www/${page}`, content: version },
    ];
    writeImage(join(folder, `web-${version}.tar`), {
      tag: image(version),
      layers: [busyboxLayer(), own],
      entrypoint: ['/bin/serve'],
    });
  }
}

/** Starts everything; ended by `cluster.stop()`. */
export async function setStage(): Promise<Stage> {
  const cluster = await startCluster();
  try {
    mkdirSync(marksFolder(cluster));
    writeImages(cluster.dir);
    await cluster.startScheduler();
    const line = await Line.start(cluster, { flags: FLAGS, compiled: true });
    await line.current.waitServing();
    const shapes = ['node-a', 'node-b'].map((name, index) => ({ name, index: index + 1 }));
    const nodes = await Promise.all(shapes.map((shape) => RealNode.start(cluster, shape)));
    const world = new World(cluster, await cluster.namespace('e2e'), SETTLE_MS);
    const ledger = new Ledger(cluster.api, world.namespace);
    cluster.onStop(() => ledger.stop());
    return { cluster, world, ledger, line, nodes };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

function marksFolder(cluster: Cluster): string {
  return join(cluster.dir, 'marks');
}

/** The lines that containers have written to a file under /marks, from whichever node. */
export function marks(stage: Stage, file: string): string[] {
  const path = join(marksFolder(stage.cluster), file);
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
}

/** Labels of an app's pods. */
export function labels(app: string): { app: string } {
  return { app };
}

/** Template of a server of that version, ready once it answers. */
export function server(app: string, version: string, fields: Fields = {}): Fields {
  const probe = {
    httpGet: { path: '/version', port: PORT },
    periodSeconds: 1,
    timeoutSeconds: 5,
    failureThreshold: 5,
  };
  const container = {
    name: 'web',
    image: image(version),
    ports: [{ containerPort: PORT }],
    readinessProbe: probe,
  };
  const spec = { terminationGracePeriodSeconds: 5, containers: [container], ...fields };
  return { metadata: { labels: labels(app) }, spec };
}

/** Template of a pod that runs a line of shell; /marks is one folder for all nodes. */
export function script(stage: Stage, app: string, text: string): Fields {
  const container = {
    name: 'script',
    image: image('1'),
    command: ['sh', '-c', text],
    volumeMounts: [{ name: 'marks', mountPath: '/marks' }],
  };
  const volume = { name: 'marks', hostPath: { path: marksFolder(stage.cluster) } };
  const spec = { restartPolicy: 'Never', containers: [container], volumes: [volume] };
  return { metadata: { labels: labels(app) }, spec };
}

/** A Service of an app's servers; headless if asked for. */
export function service(name: string, headless = false): Fields {
  const spec = {
    selector: labels(name),
    ports: [{ port: 80, targetPort: PORT }],
    ...(headless ? { clusterIP: 'None' } : {}),
  };
  return { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec };
}

/** A StatefulSet of that many pods. */
export function statefulSet(name: string, replicas: number, template: Fields): Fields {
  const spec = { replicas, serviceName: name, selector: { matchLabels: labels(name) }, template };
  return { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name }, spec };
}

/** A DaemonSet. */
export function daemonSet(name: string, template: Fields): Fields {
  const spec = { selector: { matchLabels: labels(name) }, template };
  return { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name }, spec };
}

/** An app's pods that are there. */
export async function podsOf({ world }: Stage, app: string): Promise<Obj[]> {
  return world.api.list('pods', world.namespace, { labelSelector: `app=${app}` });
}

/** Endpoints of a Service's slices. */
export async function endpointsOf({ world }: Stage, name: string): Promise<Obj[]> {
  const labelSelector = `kubernetes.io/service-name=${name}`;
  const slices = await world.api.list('endpointslices', world.namespace, { labelSelector });
  return slices.flatMap((slice) => (slice.endpoints ?? []) as Obj[]);
}

/** Addresses of the endpoints that are ready, sorted. */
export async function readyAddresses(stage: Stage, name: string): Promise<string[]> {
  const endpoints = await endpointsOf(stage, name);
  const ready = endpoints.filter(({ conditions }) => conditions?.ready === true);
  return ready.flatMap(({ addresses }) => addresses as string[]).sort();
}

/** What a server at an address says its version is. */
export async function versionAt(address: string): Promise<string> {
  const signal = AbortSignal.timeout(10_000);
  return (await fetch(`http://${address}:${PORT}/version`, { signal, proxy: false })).text();
}

/** Notes what a watch tells until the given function is called, which fails if the watch has. */
export function follow(
  { cluster, world }: Stage,
  plural: string,
  labelSelector: string,
  note: (event: WatchEvent<Obj>) => void,
): () => Promise<void> {
  const stop = new AbortController();
  const read = async (): Promise<void> => {
    const events = world.api.watch(plural, world.namespace, { labelSelector }, stop.signal);
    for await (const event of events) note(event);
    if (!stop.signal.aborted) throw new Error(`the watch of ${plural} ended early`);
  };
  const failure = read().then(
    () => undefined,
    (error) => (stop.signal.aborted ? undefined : error),
  );
  // A story that fails doesn't come to its end.
  cluster.onStop(() => stop.abort());
  return async () => {
    stop.abort();
    const error = await failure;
    if (error !== undefined) throw error;
  };
}

/** Plays a story; a failure tells what a person would look at. */
export async function play(stage: Stage, story: (stage: Stage) => Promise<void>): Promise<void> {
  try {
    await story(stage);
  } catch (error) {
    throw new Error(`${error}\n${await circumstances(stage)}`, { cause: error });
  }
}

async function circumstances({ world, line, nodes }: Stage): Promise<string> {
  const pods = await world.list('pods');
  const seen = pods.map(({ metadata, spec, status }) => {
    const { name, deletionTimestamp } = metadata;
    return JSON.stringify({ name, deletionTimestamp, node: spec?.nodeName, status });
  });
  const events = (await world.list('events'))
    .slice(-40)
    .map(({ involvedObject, reason, message }) => `${involvedObject.name} ${reason}: ${message}`);
  const told = nodes.map((node) => node.tell());
  return [...seen, ...events, await diagnose(world, line.current), ...told].join('\n');
}
