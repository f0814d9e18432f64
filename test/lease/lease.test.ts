/** Leader election on a real API server: alone, against each other and against the reference. */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Cluster,
  eventually,
  freePort,
  REPOSITORY,
  startCluster,
  TcpProxy,
} from '../rig/index.ts';
import { FROM_SOURCE, Stander, spans } from './candidates.ts';
import type { Plan } from './stand.ts';

setDefaultTimeout(120_000);

const TIMES = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 500 };
const REFERENCE_FLAGS = [
  '--leader-elect-lease-duration=3s',
  '--leader-elect-renew-deadline=2s',
  '--leader-elect-retry-period=500ms',
  '--controllers=ttl-controller',
];
const NAMESPACE = 'kube-system';

let cluster: Cluster;
const started: Stander[] = [];
let serial = 0;

beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());
afterEach(async () => {
  for (const stander of started.splice(0)) {
    stander.kill('SIGCONT');
    stander.kill();
    await stander.waitExit();
  }
});

/** A host that has never run anything: its own folder, its own lock. */
function host(lease: string, over: Partial<Plan> = {}): Plan {
  const home = join(cluster.dir, `host-${++serial}`);
  mkdirSync(home);
  return {
    kubeconfig: cluster.kubeconfig('kube-controller-manager'),
    times: TIMES,
    lease: { namespace: NAMESPACE, name: lease },
    runtimeDirectory: join(home, 'run'),
    lockId: home,
    facts: join(home, 'facts.json'),
    ...over,
  };
}

function stand(plan: Plan, program = FROM_SOURCE): Stander {
  const stander = new Stander(cluster.dir, plan, program);
  started.push(stander);
  return stander;
}

async function lease(name: string) {
  return cluster.api.get('leases', NAMESPACE, name);
}

async function kill(stander: Stander): Promise<number> {
  const at = Date.now();
  stander.kill();
  await stander.waitExit();
  return at;
}

test('creates, renews and releases the Lease as upstream writes it', async () => {
  const first = stand(host('alone'));
  await first.waitFor('lead');
  const created = await lease('alone');
  const identity = await first.identity();
  expect(identity).toMatch(/^[^_]+_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-/);
  expect(created.spec).toMatchObject({
    holderIdentity: identity,
    leaseDurationSeconds: 3,
    leaseTransitions: 0,
  });
  expect(created.spec.acquireTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  await cluster.api.patch('leases', NAMESPACE, 'alone', { metadata: { labels: { kept: 'yes' } } });
  const renewed = await eventually(async () => {
    const now = await lease('alone');
    return now.spec.renewTime > created.spec.renewTime && now.metadata.labels ? now : undefined;
  });
  await eventually(async () => (await lease('alone')).spec.renewTime > renewed.spec.renewTime);
  expect((await lease('alone')).spec.acquireTime).toBe(created.spec.acquireTime);
  expect((await first.stop()).code).toBe(0);
  const released = await lease('alone');
  expect(released.metadata.labels).toEqual({ kept: 'yes' });
  expect(released.spec).toMatchObject({
    holderIdentity: '',
    leaseDurationSeconds: 1,
    leaseTransitions: 0,
  });
  expect(first.said('event').map(({ message }) => message)).toEqual([
    `${identity} became leader`,
    `${identity} stopped leading`,
  ]);
  expect(first.said('lost')).toEqual([]);
});

test('a process killed with -9 is succeeded by the next one on its host at once', async () => {
  const plan = host('killed');
  const first = stand(plan);
  await first.waitFor('lead');
  await kill(first);
  const next = stand(plan);
  const lead = await next.waitFor('lead');
  expect(lead).toMatchObject({ how: 'instant', term: 1, followsOwn: true });
  const standing = await next.waitFor('standing');
  expect(lead.at - standing.at).toBeLessThan(2_000);
  expect((await lease('killed')).spec.holderIdentity).toBe(await next.identity());
});

test('the same compiled, killed in the middle of renewals', async () => {
  const program = join(cluster.dir, 'stand');
  const entries = [join(import.meta.dir, 'stand.ts'), join(REPOSITORY, 'src/lease/worker.ts')];
  const flags = ['--compile', '--minify', '--bytecode', '--format=esm', '--sourcemap'];
  const root = ['--root', join(REPOSITORY, 'src'), '--outfile', program];
  const build = Bun.spawnSync([process.execPath, 'build', ...flags, ...root, ...entries]);
  expect(build.stderr.toString()).not.toContain('error');
  const plan = host('compiled');
  let stander = stand(plan, [program]);
  expect(await stander.waitFor('lead')).toMatchObject({ how: 'created' });
  for (let term = 1; term <= 3; term++) {
    // Renewals come every half second: each kill hits another moment of one.
    await Bun.sleep(term * 170);
    await kill(stander);
    stander = stand(plan, [program]);
    expect(await stander.waitFor('lead')).toMatchObject({ how: 'instant', term, followsOwn: true });
  }
});

test('what was copied to another machine waits for the end of the Lease', async () => {
  const original = host('copied');
  const first = stand(original);
  await first.waitFor('lead');
  const killedAt = await kill(first);
  const copy = host('copied', { lockId: original.lockId, machine: { machineId: 'b'.repeat(32) } });
  cpSync(original.runtimeDirectory, copy.runtimeDirectory, { recursive: true });
  cpSync(original.facts, copy.facts);
  const next = stand(copy);
  expect(await next.waitFor('lead')).toMatchObject({ how: 'expired', followsOwn: false });
  await next.waitFor('writes');
  const [from] = spans(next.said(), Date.now())[0]!;
  expect(from - killedAt).toBeGreaterThan(2_500);
});

test('after a reboot the machine leads when two retry periods have passed', async () => {
  const plan = host('rebooted');
  const first = stand(plan);
  await first.waitFor('lead');
  await kill(first);
  const next = stand({ ...plan, machine: { bootId: 'another' } });
  const lead = await next.waitFor('lead');
  expect(lead).toMatchObject({ how: 'reboot', followsOwn: true });
});

test('takes over from the reference and gives back to it', async () => {
  const name = 'kube-controller-manager';
  const reference = await cluster.startReference(REFERENCE_FLAGS);
  const held = await eventually(async () => {
    const found = await cluster.api.find('leases', NAMESPACE, name);
    return found?.spec.holderIdentity ? found : undefined;
  });
  const ours = stand(host(name));
  await eventually(async () => (await lease(name)).spec.renewTime > held.spec.renewTime);
  expect(ours.said('lead')).toEqual([]);
  reference.kill();
  await reference.waitExit();
  const last = await lease(name);
  expect(await ours.waitFor('lead')).toMatchObject({ how: 'expired', followsOwn: false });
  await ours.waitFor('writes');
  const [from] = spans(ours.said(), Date.now())[0]!;
  expect(from - Date.parse(last.spec.renewTime)).toBeGreaterThan(2_900);
  const taken = await lease(name);
  expect(taken.spec.leaseTransitions).toBe(last.spec.leaseTransitions + 1);

  const second = await cluster.startReference(REFERENCE_FLAGS);
  await second.waitServing();
  await eventually(() => second.log().includes('Attempting to acquire leader lease'));
  const before = await lease(name);
  await eventually(async () => (await lease(name)).spec.renewTime > before.spec.renewTime);
  expect((await lease(name)).spec.holderIdentity).toBe(await ours.identity());
  expect((await ours.stop()).code).toBe(0);
  const [, end] = spans(ours.said(), Date.now())[0]!;
  const given = await eventually(async () => {
    const now = await lease(name);
    return now.spec.holderIdentity === '' ? undefined : now;
  });
  expect(given.spec.leaseTransitions).toBe(taken.spec.leaseTransitions + 1);
  expect(Date.parse(given.spec.acquireTime)).toBeGreaterThanOrEqual(end);
  second.kill();
});

test('cut off, stuck or frozen: never two may write, and each stands by again', async () => {
  const proxy = await TcpProxy.start(await freePort(), Number(new URL(cluster.server).port));
  const kubeconfig = cluster.kubeconfig('kube-controller-manager', proxy.url);
  const standers = [stand(host('contended', { kubeconfig }))];
  await standers[0]!.waitFor('lead');
  standers.push(stand(host('contended')), stand(host('contended')));
  await Promise.all(standers.map((stander) => stander.waitFor('standing')));
  const next = async (after: Stander): Promise<Stander> => {
    const terms = new Map(standers.map((one) => [one, one.said('lead').length]));
    const found = () =>
      standers.find((one) => one !== after && one.said('lead').length > (terms.get(one) ?? 0));
    return eventually(found, { everyMs: 20, describe: `a leader after ${after.name}` });
  };

  proxy.swallow();
  const second = await next(standers[0]!);
  expect((await standers[0]!.waitFor('lost')).because).toContain('in time');
  proxy.release();

  second.kill('SIGUSR2');
  const third = await next(second);
  await second.waitFor('unstuck');
  await second.waitFor('lost');

  third.kill('SIGSTOP');
  await next(third);
  third.kill('SIGCONT');
  await third.waitFor('lost', third.said('lead').length);

  const now = Date.now();
  const all = standers.flatMap((stander) => spans(stander.said(), now));
  all.sort(([a], [b]) => a - b);
  expect(all.length).toBeGreaterThanOrEqual(4);
  for (let index = 1; index < all.length; index++) {
    expect(all[index]![0]).toBeGreaterThan(all[index - 1]![1]);
  }
  for (const stander of standers) expect(stander.running).toBe(true);
  await proxy.stop();
});
