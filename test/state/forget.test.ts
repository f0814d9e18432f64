/** `holdfast state forget` of a running process: it lists anew, and nothing is made twice. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { openInspector } from '../../src/store/index.ts';
import { replicaSet } from '../builders/index.ts';
import {
  type Cluster,
  eventually,
  type HoldfastManager,
  REPOSITORY,
  startCluster,
} from '../rig/index.ts';

setDefaultTimeout(120_000);

const WANTED = 120;

let cluster: Cluster;
let holdfast: HoldfastManager;
let namespace: string;

beforeAll(async () => {
  cluster = await startCluster();
  const flags = ['--controllers=replicaset-controller', '--kube-api-qps=15', '--kube-api-burst=15'];
  holdfast = await cluster.startHoldfast({ flags });
  await holdfast.waitServing();
  namespace = await cluster.namespace('forget');
});

afterAll(async () => {
  await cluster.stop();
});

async function forget(...argv: string[]): Promise<string> {
  const command = [process.execPath, 'src/main.ts', 'state', 'forget', ...argv];
  const run = Bun.spawn([...command, `--state-dir=${holdfast.stateDir}`], {
    cwd: REPOSITORY,
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const text = await new Response(run.stdout).text();
  expect(await run.exited).toBe(0);
  return text;
}

async function lists(resource: string): Promise<number> {
  const line = `holdfast_reflector_lists_total{resource="${resource}",how="full"}`;
  const found = (await holdfast.metrics()).split('\n').find((each) => each.startsWith(line));
  return Number(found?.split(' ').at(-1) ?? 0);
}

async function pods() {
  return await cluster.api.list('pods', namespace);
}

function stored(resource: string): number {
  const inspector = openInspector(holdfast.stateDir);
  const view = inspector.watches(0).find((each) => each.resource === resource);
  inspector.close();
  return view?.resourceVersion ? view.rows : -1;
}

test('in the middle of a rollout, one resource and then everything', async () => {
  await cluster.api.create(replicaSet(`${namespace}/web`, { spec: { replicas: WANTED } }));
  await eventually(async () => (await pods()).length > 5);
  const before = await lists('pods');
  expect(await forget('pods')).toMatch(/forgot pods while running\. It is listed anew\.\n$/);
  expect(await lists('pods')).toBe(before + 1);
  await eventually(async () => (await pods()).length > WANTED / 4);
  const replicaSets = await lists('replicasets.apps');
  expect(await forget('--all', '--yes')).toMatch(/forgot everything while running\./);
  expect(await lists('replicasets.apps')).toBe(replicaSets + 1);
  await cluster.api.waitFor(
    'replicasets',
    namespace,
    'web',
    ({ status }) => status?.replicas === WANTED,
    { timeoutMs: 60_000 },
  );
  const made = cluster.auditEntries({ verb: 'create', resource: 'pods', namespace });
  expect(made.length).toBe(WANTED);
  expect(made.every(({ responseStatus }) => responseStatus?.code === 201)).toBe(true);
  expect(cluster.auditEntries({ verb: 'delete', resource: 'pods', namespace })).toEqual([]);
  await eventually(() => stored('pods') === WANTED);
});

test('what was forgotten is known again after a kill', async () => {
  await forget('replicasets');
  const { stateDir, runtimeDir, port } = holdfast;
  await eventually(() => stored('replicasets.apps') === 1);
  await holdfast.kill('SIGKILL');
  const flags = ['--controllers=replicaset-controller'];
  holdfast = await cluster.startHoldfast({ flags, stateDir, runtimeDir, port });
  await holdfast.waitServing();
  await eventually(async () => (await holdfast.metrics()).includes('workqueue_depth'));
  expect(await lists('replicasets.apps')).toBe(0);
  expect((await pods()).length).toBe(WANTED);
});
