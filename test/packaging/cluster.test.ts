/** The manifests of packaging/ on a real API server. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { binary, type Cluster, eventually, REPOSITORY, startCluster } from '../rig/index.ts';

setDefaultTimeout(180_000);

const FOLDER = join(REPOSITORY, 'packaging', 'kubernetes');

let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster();
});

afterAll(() => cluster?.stop());

/** Requests of a user that were refused, as "verb resource". */
function refused(user: string): string[] {
  const entries = cluster.auditEntries({}).filter((entry) => entry.user?.username === user);
  return entries.flatMap(({ responseStatus, verb, objectRef }) =>
    responseStatus?.code === 403 ? [`${verb} ${objectRef?.resource}`] : [],
  );
}

test('with rbac.yaml the user holdfast may all that it needs, under both names of the Lease', async () => {
  const kubeconfig = await cluster.addUser('holdfast');
  const apply = Bun.spawnSync([
    await binary('kubectl'),
    `--kubeconfig=${cluster.kubeconfig()}`,
    'apply',
    `--filename=${join(FOLDER, 'rbac.yaml')}`,
  ]);
  expect(apply.stderr.toString()).toBe('');
  const kubeSystem = 'kube-system';
  for (const lease of ['kube-controller-manager', 'holdfast']) {
    const holdfast = await cluster.startHoldfast({
      kubeconfig,
      flags: [`--leader-elect-resource-name=${lease}`],
    });
    await holdfast.waitServing();
    const name = `made-under-${lease}`;
    await cluster.api.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    const made = () => cluster.api.get('configmaps', name, 'kube-root-ca.crt');
    await eventually(made, { describe: 'the root CA is published' });
    await eventually(() => cluster.api.get('serviceaccounts', name, 'default'));
    expect(holdfast.log()).not.toContain('Could not read the authorities');
    expect((await holdfast.stop()).code).toBe(0);
    const { spec } = await cluster.api.get('leases', kubeSystem, lease);
    expect(spec.holderIdentity).toBe('');
  }
  expect(refused('holdfast')).toEqual([]);
});

test('the API server takes the static pod', async () => {
  const pod = parse(readFileSync(join(FOLDER, 'static-pod.yaml'), 'utf8'));
  const path = '/api/v1/namespaces/kube-system/pods?dryRun=All&fieldValidation=Strict';
  const answer = await cluster.api.raw(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(pod),
  });
  const text = await answer.text();
  expect([answer.status, answer.headers.get('warning'), text.includes('"holdfast"')]).toEqual([
    201,
    null,
    true,
  ]);
});
