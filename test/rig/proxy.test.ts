/** The proxies: bytes are counted, faults are felt, and everything else passes unchanged. */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import {
  type Api,
  ApiFailure,
  type Cluster,
  eventually,
  FaultProxy,
  freePort,
  sharedCluster,
  TcpProxy,
} from './index.ts';

setDefaultTimeout(120_000);

let cluster: Cluster;
let tcp: TcpProxy;
let https: FaultProxy;
let throughTcp: Api;
let throughHttps: Api;
let namespace: string;

beforeAll(async () => {
  cluster = await sharedCluster();
  namespace = await cluster.namespace('proxy');
  tcp = await TcpProxy.start(await freePort(), cluster.ports.apiServer);
  https = await FaultProxy.start(cluster);
  throughTcp = cluster.client('admin', tcp.url);
  throughHttps = cluster.client('admin', https.url);
});

afterEach(async () => {
  tcp.delay(0);
  tcp.release();
  await tcp.accept();
  https.heal();
});

afterAll(async () => {
  await tcp.stop();
  https.stop();
});

const configMap = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
  data: { big: 'x'.repeat(50_000) },
});

const failure = async (call: Promise<unknown>): Promise<unknown> => {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error('the call succeeded');
};

test('the TCP proxy counts what travels each way', async () => {
  tcp.resetTraffic();
  await throughTcp.create(configMap('counted'));
  const { up, down } = tcp.traffic;
  expect(up).toBeGreaterThan(50_000);
  expect(down).toBeGreaterThan(50_000);
});

test('delay, hold, refuse and cut are felt by the client', async () => {
  tcp.delay(150);
  const started = performance.now();
  await throughTcp.list('configmaps', namespace);
  expect(performance.now() - started).toBeGreaterThanOrEqual(300);
  tcp.delay(0);

  tcp.hold();
  const held = throughTcp.create(configMap('held'));
  await eventually(() => cluster.api.find('configmaps', namespace, 'held'));
  expect(Bun.peek.status(held)).toBe('pending');
  tcp.release();
  expect((await held).metadata.name).toBe('held');

  await tcp.refuse();
  expect(await failure(throughTcp.list('configmaps', namespace))).toBeInstanceOf(Error);
  await tcp.accept();
  await throughTcp.list('configmaps', namespace);
});

test('a half-open connection swallows everything until it is released', async () => {
  await throughTcp.list('configmaps', namespace);
  tcp.swallow();
  const signal = AbortSignal.timeout(400);
  expect(String(await failure(throughTcp.raw('/version', { signal })))).toContain('timed out');
  tcp.release();
  await throughTcp.list('configmaps', namespace);
});

test('an answer can be cut after some bytes', async () => {
  await throughTcp.create(configMap('cut'));
  tcp.cutAfter(20_000);
  const path = `/api/v1/namespaces/${namespace}/configmaps/cut`;
  const broken = throughTcp.raw(path).then((answer) => answer.text());
  expect(await failure(broken)).toBeInstanceOf(Error);
  expect((await throughTcp.get('configmaps', namespace, 'cut')).data.big.length).toBe(50_000);
});

test('the HTTPS proxy passes identities on', async () => {
  const who = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const review = await throughHttps.request('POST', path, who);
  expect(review.status.userInfo.username).toBe('rig-admin');
  expect(review.status.userInfo.groups).toContain('system:masters');
  const nobody = await failure(cluster.client('nobody', https.url).list('pods', namespace));
  expect((nobody as ApiFailure).status).toBe(403);
});

test('chosen requests get chosen answers, a given number of times', async () => {
  https.fail({ method: 'GET', path: /configmaps/, times: 1, fault: { status: 429 } });
  const refused = await failure(throughHttps.list('configmaps', namespace));
  expect(refused).toBeInstanceOf(ApiFailure);
  expect((refused as ApiFailure).reason).toBe('TooManyRequests');
  expect((await throughHttps.list('configmaps', namespace)).length).toBeGreaterThan(0);
});

test('an executed request can lose its answer', async () => {
  https.fail({ method: 'POST', times: 1, fault: { cut: 'executed' } });
  const draft = { ...configMap('lost'), data: {} };
  expect(await failure(throughHttps.create(draft))).toBeInstanceOf(Error);
  expect(await cluster.api.find('configmaps', namespace, 'lost')).toBeDefined();
});

test('a watch can end in an expired error or in half a line', async () => {
  https.fail({ path: /watch=1/, times: 1, fault: { watchError: 410 } });
  const [expired] = await Array.fromAsync(throughHttps.watch('configmaps', namespace));
  expect(expired?.type).toBe('ERROR');
  expect(expired?.object.code).toBe(410);

  https.fail({ path: /watch=1/, times: 1, fault: { halfLineAfter: 2 } });
  const events = await Array.fromAsync(throughHttps.watch('configmaps', namespace));
  expect(events.length).toBe(2);
});
