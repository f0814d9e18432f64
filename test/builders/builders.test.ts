/** Builders: what the API server takes, and how overrides are merged. */
import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type Cluster, sharedCluster } from '../rig/index.ts';
import * as build from './index.ts';

setDefaultTimeout(120_000);

let cluster: Cluster;
beforeAll(async () => {
  cluster = await sharedCluster();
});

test('overrides merge objects, replace lists and remove what is undefined', () => {
  const containers = [{ name: 'other', image: 'other:2' }];
  const made = build.deployment('shop/web', {
    metadata: { labels: { tier: 'front' } },
    spec: { replicas: undefined, template: { spec: { containers } } },
  });
  expect(made.metadata).toEqual({ namespace: 'shop', name: 'web', labels: { tier: 'front' } });
  expect(made.spec?.selector.matchLabels).toEqual({ app: 'web' });
  expect(made.spec?.template.spec?.containers).toEqual(containers);
  expect('replicas' in (made.spec ?? {})).toBe(false);
});

test('stored objects are complete and owned ones point to their owner', () => {
  const owner = build.stored(build.replicaSet('web'));
  const pod = build.stored(build.ownedBy(owner, build.readyPod('shop/web-1', 'node-0')));
  expect(owner.metadata.namespace).toBe('default');
  expect(pod.metadata.namespace).toBe('shop');
  expect(pod.metadata.uid).not.toBe(owner.metadata.uid);
  expect(pod.metadata.ownerReferences).toEqual([build.controllerRef(owner)]);
});

test('a real API server takes every builder as it is', async () => {
  const ns = await cluster.namespace('builders');
  const suffix = ns.slice('builders-'.length);
  const drafts = [
    build.pod(`${ns}/pod`),
    build.serviceAccount(`${ns}/account`),
    build.service(`${ns}/service`),
    build.configMap(`${ns}/config`),
    build.secret(`${ns}/secret`),
    build.replicationController(`${ns}/rc`),
    build.persistentVolumeClaim(`${ns}/claim`),
    build.persistentVolume(`volume-${suffix}`),
    build.resourceQuota(`${ns}/quota`),
    build.deployment(`${ns}/deployment`),
    build.replicaSet(`${ns}/rs`),
    build.statefulSet(`${ns}/sts`),
    build.daemonSet(`${ns}/ds`),
    build.job(`${ns}/job`),
    build.cronJob(`${ns}/cron`),
    build.podDisruptionBudget(`${ns}/pdb`),
    build.horizontalPodAutoscaler(`${ns}/hpa`),
    build.endpointSlice(`${ns}/slice`, 'service'),
    build.lease(`${ns}/lease`),
    build.node(`node-${suffix}`),
    build.namespace(`extra-${suffix}`),
  ];
  for (const draft of drafts) {
    const kept = await cluster.api.create(draft);
    expect(kept.metadata.uid).toBeTruthy();
  }
  await cluster.api.remove('nodes', '', `node-${suffix}`);
});
