/** The page of a running process, read by a real browser, from `/` to what fails and why. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { replicaSet } from '../builders/index.ts';
import {
  type Cluster,
  eventually,
  type HoldfastManager,
  type Obj,
  REPOSITORY,
  startCluster,
} from '../rig/index.ts';
import { Browser, chromium, inFront } from './browser.ts';

setDefaultTimeout(120_000);

const program = chromium();
if (program === undefined) console.log('without chromium: the page is read without a browser');

let cluster: Cluster;
let leader: HoldfastManager;
let standby: HoldfastManager;
let namespace: string;

beforeAll(async () => {
  cluster = await startCluster();
  const flags = ['--controllers=replicaset-controller,resourcequota-controller'];
  // The page must be in the binary too; `make test` builds it first.
  const compiled = existsSync(join(REPOSITORY, 'dist', 'holdfast'));
  leader = await cluster.startHoldfast({ flags, compiled });
  await leader.waitServing();
  await eventually(async () => (await textOf(leader, '/')).includes('leading'));
  standby = await cluster.startHoldfast({ flags });
  await standby.waitServing();
  await cluster.addUser('alice');
  namespace = await cluster.namespace('page');
  const quota = { apiVersion: 'v1', kind: 'ResourceQuota', spec: { hard: { pods: '0' } } };
  await cluster.api.create({ ...quota, metadata: { namespace, name: 'none' } } as Obj);
  await cluster.api.waitFor('resourcequotas', namespace, 'none', ({ status }) => status?.hard);
  await cluster.api.create(replicaSet(`${namespace}/stuck`, { spec: { replicas: 2 } }));
});

afterAll(async () => {
  await cluster.stop();
});

async function textOf(manager: HoldfastManager, path: string, accept = 'text/html') {
  const answer = await manager.fetch(path, 'admin', { headers: { Accept: accept } });
  return await answer.text();
}

describe('the page at /', () => {
  test('is refused to whom the API server does not let in', async () => {
    expect((await leader.fetch('/', null)).status).toBe(403);
    expect((await leader.fetch('/', 'alice')).status).toBe(403);
    const path = `/debug/holdfast/explain/replicaset/${namespace}/stuck`;
    expect((await leader.fetch(path, 'alice')).status).toBe(403);
  });

  test('shows what fails, and the way to why', async () => {
    const page = await eventually(async () => {
      const text = await textOf(leader, '/');
      return text.includes('exceeded quota') && text.includes(`${namespace}/stuck`) && text;
    });
    const link = `/debug/holdfast/explain/replicasets.apps/${namespace}/stuck`;
    expect(page).toContain(`href="${link}"`);
    const text = await textOf(leader, link, '*/*');
    expect(text).toStartWith(`ReplicaSet ${namespace}/stuck\n`);
    expect(text).toContain('replicaset-controller has failed on it');
    expect(text).toContain('exceeded quota');
    expect(text).toContain('It wants 2 replicas: 0 there, 0 ready.');
    const json = JSON.parse(await textOf(leader, link, 'application/json'));
    expect(json).toMatchObject({ verdict: 'failing', resource: 'replicasets.apps' });
    expect((await leader.fetch(`${link}-not`)).status).toBe(200);
    expect((await leader.fetch('/debug/holdfast/explain/nonsense/x')).status).toBe(404);
  });

  test('of a standby says who leads', async () => {
    const { holder } = JSON.parse(await textOf(leader, '/debug/holdfast/lease'));
    await eventually(async () => (await textOf(standby, '/')).includes(holder));
    const page = await textOf(standby, '/');
    expect(page).toContain('standing by');
    expect(page).toContain('keeps its caches warm');
    expect(page).toContain('replicasets.apps');
  });

  test('reading it writes nothing', async () => {
    const commits = async () => JSON.parse(await textOf(standby, '/debug/holdfast/store')).commits;
    const before = await eventually(async () => {
      const first = await commits();
      return first === (await commits()) && first;
    });
    for (let i = 0; i < 20; i++) await textOf(standby, '/');
    expect(await commits()).toBeLessThanOrEqual(before + 1);
  });
});

describe.skipIf(program === undefined)('in Chromium', () => {
  test('from the page to the explanation and back, without a complaint', async () => {
    const front = inFront(async (path, headers) => {
      const accept = headers.get('accept') ?? '*/*';
      const answer = await leader.fetch(path, 'admin', { headers: { Accept: accept } });
      const { status } = answer;
      const kept = new Headers(answer.headers);
      for (const name of ['connection', 'transfer-encoding', 'content-length']) kept.delete(name);
      return new Response(await answer.arrayBuffer(), { status, headers: kept });
    });
    const browser = await Browser.start(program ?? '');
    try {
      for (const width of [360, 1280]) {
        for (const scheme of ['light', 'dark'] as const) {
          const shown = await browser.show(front.url, { width, scheme });
          expect([shown.status, shown.complaints]).toEqual([200, []]);
          expect(shown.contentWidth).toBeLessThanOrEqual(width);
          expect(shown.text).toContain(`${namespace}/stuck`);
          const link = shown.links.find((each) => each.endsWith(`/${namespace}/stuck`)) ?? '';
          const told = await browser.show(link, { width, scheme });
          expect([told.status, told.complaints]).toEqual([200, []]);
          expect(told.contentWidth).toBeLessThanOrEqual(width);
          expect(told.text).toContain('has failed on it');
          expect(told.links).toContain(`${front.url}/`);
        }
      }
    } finally {
      await browser.close();
      front.stop();
    }
  });
});
