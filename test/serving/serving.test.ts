/** What a monitoring system or a person sees on the secure port, beside the reference manager's answers. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Cluster, eventually, type Json, type Manager, startCluster } from '../rig/index.ts';

setDefaultTimeout(120_000);

const FLAGS = ['--controllers=deployment,replicaset,namespace', '--concurrent-deployment-syncs=7'];

let cluster: Cluster;
let reference: Manager;
let holdfast: Manager;

beforeAll(async () => {
  cluster = await startCluster();
  // Both lead, each without election: they only idle here.
  const flags = [...FLAGS, '--leader-elect=false'];
  reference = await cluster.startReference({ flags });
  holdfast = await cluster.startHoldfast({ flags });
  await Promise.all([reference, holdfast].map((manager) => manager.waitServing()));
  await cluster.addUser('alice');
});

afterAll(async () => {
  await cluster.stop();
});

interface Answer {
  readonly status: number;
  readonly body: string;
}

async function ask(manager: Manager, path: string, as: string | null): Promise<Answer> {
  const response = await manager.fetch(path, as);
  return { status: response.status, body: await response.text() };
}

/** The reference lists the ignored resources in an order that differs from start to start. */
function configOf({ body }: Answer): Json {
  const config = JSON.parse(body);
  const { GarbageCollectorController: collector } = config['kubecontrollermanager.config.k8s.io'];
  collector.GCIgnoredResources.sort((a: Json, b: Json) => (a.Group < b.Group ? -1 : 1));
  return config;
}

describe('as the reference manager answers', () => {
  test.each([
    ['/healthz', null],
    ['/healthz', 'admin'],
    ['/healthz/leaderElection', 'admin'],
    ['/healthz/leaderElection', null],
    ['/livez', null],
    ['/readyz', null],
    ['/version', 'admin'],
    ['/metrics', null],
    ['/metrics', 'alice'],
    ['/configz', 'alice'],
    ['/nothing', 'admin'],
  ] as const)('%s, asked by %s', async (path, as) => {
    const [wanted, found] = await Promise.all([ask(reference, path, as), ask(holdfast, path, as)]);
    expect(found.status).toBe(wanted.status);
    if (wanted.status !== 200) expect(found.body.trim()).toBe(wanted.body.trim());
  });

  test('/configz, key for key', async () => {
    const [wanted, found] = await Promise.all([
      ask(reference, '/configz', 'admin'),
      ask(holdfast, '/configz', 'admin'),
    ]);
    expect(configOf(found)).toEqual(configOf(wanted));
  });

  test('/healthz?verbose lists one check for each controller that runs', async () => {
    const lines = async (manager: Manager): Promise<string[]> => {
      const { body } = await ask(manager, '/healthz?verbose', 'admin');
      return body.trim().split('\n').sort();
    };
    const wanted = await lines(reference);
    await eventually(async () => (await lines(holdfast)).length >= wanted.length);
    expect(await lines(holdfast)).toEqual(wanted);
  });

  test('/metrics has the families that dashboards are built on', async () => {
    const families = async (manager: Manager): Promise<Set<string>> => {
      const names = [...(await manager.metrics()).matchAll(/^# TYPE (\S+) /gm)];
      return new Set(names.map(([, name]) => name ?? ''));
    };
    const shared = /^(workqueue|rest_client_(requests|request_duration|rate_limiter)|process)_/;
    const [wanted, found] = await Promise.all([families(reference), families(holdfast)]);
    // What the Go runtime alone can count, and what no request has needed here.
    const without = ['process_network_receive_bytes_total', 'process_network_transmit_bytes_total'];
    const missing = [...wanted].filter(
      (name) => shared.test(name) && !found.has(name) && !without.includes(name),
    );
    expect(missing).toEqual([]);
  });
});
