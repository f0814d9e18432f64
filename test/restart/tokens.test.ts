/** Token Secrets while Holdfast is killed: each is filled once, waits go on, nothing is read twice. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  always,
  type Cluster,
  eventually,
  FaultProxy,
  type HoldfastManager,
  startCluster,
} from '../rig/index.ts';
import { account, hasToken, tokenSecret } from '../scenarios/identity-tokens.ts';
import { World } from '../scenarios/world.ts';

setDefaultTimeout(180_000);

const FLAGS = ['--controllers=serviceaccount-token,serviceaccount', '-v=2'];
const AGENT = /holdfast/;
const PUT = /\/secrets\//;
const LATE_MS = 2_500;
const QUIET_MS = 2_000;
const KILLS = 4;
const SECRETS_A_KILL = 8;
const OK = 200;
const INVALID = 422;
/** A first try and ten more. */
const TRIES = 11;

let cluster: Cluster;
let proxy: FaultProxy;
let holdfast: HoldfastManager;

beforeAll(async () => {
  cluster = await startCluster();
  proxy = await FaultProxy.start(cluster);
  holdfast = await cluster.startHoldfast({ flags: FLAGS, kubeconfig: kubeconfig() });
  await holdfast.waitServing();
});

afterAll(async () => {
  await cluster.stop();
});

function kubeconfig(): string {
  return cluster.kubeconfig('kube-controller-manager', proxy.url);
}

async function kill(): Promise<void> {
  holdfast.kill('SIGKILL');
  await holdfast.waitExit();
}

async function start(forgetful = false): Promise<void> {
  const { stateDir, runtimeDir, port } = holdfast;
  const kept = forgetful ? {} : { stateDir, runtimeDir };
  const options = { flags: FLAGS, port, kubeconfig: kubeconfig(), ...kept };
  holdfast = await cluster.startHoldfast(options);
}

async function newWorld(): Promise<World> {
  const world = new World(cluster, await cluster.namespace('tokens'));
  await account(world, 'robot');
  return world;
}

/** How often Holdfast asked this of a Secret, with this answer. */
function asked({ namespace }: World, name: string, verb: string, code = OK): number {
  return cluster.auditEntries({
    verb,
    resource: 'secrets',
    namespace,
    userAgent: AGENT,
    where: ({ objectRef, responseStatus }) =>
      objectRef?.name === name && responseStatus?.code === code,
  }).length;
}

/** The Secret is filled by one write, and by no other in a while. */
async function filledOnce(world: World, name: string): Promise<void> {
  const { data } = await hasToken(world, name);
  const same = async (): Promise<boolean> =>
    (await world.get('secrets', name)).data.token === data.token;
  await always(same, { forMs: QUIET_MS, describe: 'the same token' });
  expect(asked(world, name, 'update')).toBe(1);
}

describe('a Secret that is being filled', () => {
  test('by a write that arrives late is filled once', async () => {
    const world = await newWorld();
    proxy.fail({ method: 'PUT', path: PUT, times: 1, fault: { delayMs: LATE_MS } });
    const before = proxy.seen.length;
    await world.create(tokenSecret('late', 'robot'));
    const sent = () => proxy.seen.slice(before).some(({ faulted }) => faulted);
    await eventually(sent, { everyMs: 10, describe: 'the write' });
    await kill();
    await start();
    await filledOnce(world, 'late');
  });

  test('by a write whose answer is lost is filled once', async () => {
    const world = await newWorld();
    proxy.fail({ method: 'PUT', path: PUT, times: 1, fault: { cut: 'executed' } });
    await world.create(tokenSecret('lost', 'robot'));
    await hasToken(world, 'lost');
    await kill();
    await start();
    await filledOnce(world, 'lost');
  });

  test('together with others, killed again and again, is filled once', async () => {
    const world = await newWorld();
    const names: string[] = [];
    for (let round = 0; round < KILLS; round++) {
      const fresh = Array.from({ length: SECRETS_A_KILL }, (_, at) => `key-${round}-${at}`);
      names.push(...fresh);
      const creating = fresh.map((name) => world.create(tokenSecret(name, 'robot')));
      await creating[round];
      await Bun.sleep(15 * round);
      await kill();
      await Promise.all(creating);
      await start();
    }
    const tokens = await Promise.all(names.map((name) => hasToken(world, name)));
    expect(new Set(tokens.map(({ data }) => data.token)).size).toBe(names.length);
    for (const name of names) expect(asked(world, name, 'update')).toBe(1);
  });
});

describe('what was remembered', () => {
  test('is no token, and no data of any Secret', async () => {
    const world = await newWorld();
    const own = Buffer.from('a secret of somebody').toString('base64');
    await world.create(tokenSecret('key', 'robot', { data: { own } }));
    const { data } = await hasToken(world, 'key');
    await world.merge('secrets', 'key', { metadata: { labels: { seen: 'yes' } } });
    await Bun.sleep(QUIET_MS);
    const token = Buffer.from(data.token, 'base64').toString();
    const secrets = [own, 'a secret of somebody', data.token, token, token.split('.')[2] as string];
    const { stateDir, runtimeDir } = holdfast;
    const files = [stateDir, runtimeDir].flatMap((dir) =>
      readdirSync(dir, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name)),
    );
    const kept = files.map((file) => readFileSync(file));
    const holds = (text: string): boolean => kept.some((bytes) => bytes.includes(text));
    expect(holds(`${world.namespace}/key`)).toBe(true);
    expect(secrets.filter(holds)).toEqual([]);
  });

  test('a Secret that can not be filled is given up after as many tries as without a kill', async () => {
    const world = await newWorld();
    await world.create(tokenSecret('fixed', 'robot', { immutable: true }));
    const tried = (): number => asked(world, 'fixed', 'update', INVALID);
    await eventually(() => tried() >= 7, { everyMs: 20, describe: 'some tries' });
    await kill();
    await start();
    await eventually(() => tried() >= TRIES, { describe: 'all tries' });
    await always(() => tried() <= TRIES + 1, { forMs: QUIET_MS, describe: 'no further try' });
    // Without a memory it begins anew, as upstream does.
    const before = tried();
    await kill();
    await cluster.api.remove('leases', 'kube-system', 'kube-controller-manager');
    await start(true);
    await eventually(() => tried() >= before + TRIES, { describe: 'all tries once more' });
  });

  test('Secrets that are right are not read again, and without a memory once', async () => {
    const world = await newWorld();
    await world.create(tokenSecret('key', 'robot'));
    await hasToken(world, 'key');
    const reads = (): number => asked(world, 'key', 'get');
    await holdfast.waitServing();
    expect(reads()).toBe(1);
    // A write of something else takes what was remembered along to the disk.
    await world.create(tokenSecret('other', 'robot'));
    await hasToken(world, 'other');
    await Bun.sleep(QUIET_MS / 4);
    await kill();
    await start();
    await world.create(tokenSecret('after', 'robot'));
    await hasToken(world, 'after');
    await Bun.sleep(QUIET_MS);
    expect(reads()).toBe(1);
    await kill();
    await start(true);
    await eventually(() => reads() === 2, { timeoutMs: 60_000, describe: 'one look' });
    await Bun.sleep(QUIET_MS);
    expect(reads()).toBe(2);
    expect(asked(world, 'key', 'update')).toBe(1);
  });
});
