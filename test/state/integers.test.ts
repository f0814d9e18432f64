/** Integers that JavaScript's numbers can't hold go through Holdfast, its file and back unchanged. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { HoldfastManager } from '../rig/index.ts';
import { Bench, cachesOf, kill } from './bench.ts';

setDefaultTimeout(120_000);

/** The greatest int64, the first integer that a double can't hold, and the least int64. */
const INTEGERS = ['9223372036854775807', '9007199254740993', '-9223372036854775808'];
const REPLICAS = 2;

let bench: Bench;
let holdfast: HoldfastManager;

beforeAll(async () => {
  bench = await Bench.start('integers');
  holdfast = await bench.holdfast();
});

afterAll(async () => {
  await bench?.cluster.stop();
});

/** The text of a Deployment as a client with 64-bit integers would send it. */
function manifest(namespace: string, name: string): string {
  const tolerations = INTEGERS.map(
    (seconds, index) =>
      `{"key":"k${index}","operator":"Exists","effect":"NoExecute","tolerationSeconds":${seconds}}`,
  );
  return `{
    "apiVersion": "apps/v1", "kind": "Deployment",
    "metadata": {"name": "${name}", "namespace": "${namespace}"},
    "spec": {
      "replicas": ${REPLICAS}, "selector": {"matchLabels": {"app": "web"}},
      "template": {
        "metadata": {"labels": {"app": "web"}},
        "spec": {
          "containers": [{"name": "web", "image": "web:1"}],
          "tolerations": [${tolerations.join(',')}]
        }
      }
    }
  }`;
}

async function create(namespace: string): Promise<void> {
  const answer = await bench.cluster.api.raw(`/apis/apps/v1/namespaces/${namespace}/deployments`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: manifest(namespace, 'web'),
  });
  expect(answer.status).toBe(201);
}

/** tolerationSeconds of each object of a list, as the server writes them. */
async function seconds(path: string): Promise<string[][]> {
  const answer = await bench.cluster.api.raw(path);
  const items = (await answer.text()).split('"tolerations":').slice(1);
  return items.map((item) =>
    [...item.slice(0, item.indexOf(']')).matchAll(/"tolerationSeconds":\s*(-?\d+)/g)]
      .map(([, digits = '']) => digits)
      .filter((digits) => digits.length > 3),
  );
}

test('from Deployment to ReplicaSet to pod, also out of the file', async () => {
  const { world, cluster } = bench;
  const { namespace } = world;
  await create(namespace);
  await bench.rolledOut(holdfast);
  await kill(holdfast);
  holdfast = await bench.again(holdfast);
  await holdfast.waitServing();
  await world.merge('deployments', 'web', { spec: { replicas: REPLICAS + 1 } });
  await bench.rolledOut(holdfast);
  expect(await cachesOf(holdfast)).toMatchObject({ 'replicasets.apps': 'resumed' });
  const sets = await seconds(`/apis/apps/v1/namespaces/${namespace}/replicasets`);
  const pods = await seconds(`/api/v1/namespaces/${namespace}/pods?labelSelector=app%3Dweb`);
  expect(sets).toEqual([INTEGERS]);
  expect(pods).toEqual(Array.from({ length: REPLICAS + 1 }, () => INTEGERS));
  // The reference finds nothing that differs from its own reading of the template.
  await holdfast.stop();
  await cluster.startReference(['--controllers=deployment,replicaset', '--leader-elect=false']);
  await world.merge('deployments', 'web', { spec: { replicas: REPLICAS + 2 } });
  await world.rolledOut();
  expect(await world.list('replicasets')).toHaveLength(1);
});
