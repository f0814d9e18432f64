/**
 * Tokens and roles go from the reference manager to Holdfast and back: nothing that was right is
 * written, and the API server takes the tokens of both.
 */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { createTokenSigner } from '../../src/kube/index.ts';
import { atRest, type Cluster, type Manager, startCluster } from '../rig/index.ts';
import { userOf } from '../scenarios/identity-snapshot.ts';
import { account, hasToken, tokenSecret } from '../scenarios/identity-tokens.ts';
import { World } from '../scenarios/world.ts';
import { versionsOf } from './versions.ts';

setDefaultTimeout(180_000);

const CONTROLLERS = 'serviceaccount-token,serviceaccount,clusterrole-aggregation';
const CALM_LOOKS = 5;
const CALM_EVERY_MS = 500;
const FLAGS = [
  `--controllers=${CONTROLLERS}`,
  '--leader-elect-lease-duration=3s',
  '--leader-elect-renew-deadline=2s',
  '--leader-elect-retry-period=500ms',
];
const WATCHED = ['secrets', 'serviceaccounts', 'clusterroles'];
const CREATED = 201;

/** Name, UID and version of everything a manager might have rewritten. */
function versions(world: World): Promise<string[]> {
  return versionsOf(world, WATCHED);
}

/** The same versions for a while: the last syncs are over. */
function settled(world: World): Promise<string[]> {
  const options = { looks: CALM_LOOKS, everyMs: CALM_EVERY_MS, describe: 'versions at rest' };
  return atRest(() => versions(world), options);
}

/** The manager leads and works: it fills a Secret. Gives the token. */
async function fills(world: World, manager: Manager, name: string): Promise<string> {
  await world.create(tokenSecret(name, 'robot'));
  const { data } = await hasToken(world, name).catch((error: Error) => {
    throw new Error(`${manager.name} does not work: ${error.message}\n${manager.tail()}`);
  });
  return Buffer.from(data.token, 'base64').toString();
}

describe.each(['rsa', 'ecdsa'] as const)('with a key of kind %s', (serviceAccountKey) => {
  test('taken over and given back, no Secret, account and role is touched', async () => {
    await using cluster = await startCluster({ serviceAccountKey });
    const world = new World(cluster, await cluster.namespace('takeover'));
    await account(world, 'robot', 'by-reference', 'by-holdfast');
    const tokens: string[] = [];
    let reference = await cluster.startReference({ flags: FLAGS });
    tokens.push(await fills(world, reference, 'by-reference'));
    const before = await settled(world);
    reference.kill('SIGKILL');
    await reference.waitExit();
    const holdfast = await cluster.startHoldfast({ flags: FLAGS });
    tokens.push(await fills(world, holdfast, 'by-holdfast'));
    const both = await settled(world);
    expect(both.filter((line) => !line.startsWith('by-holdfast'))).toEqual(before);
    expect(await holdfast.stop()).toMatchObject({ code: 0 });
    reference = await cluster.startReference({ flags: FLAGS });
    tokens.push(await fills(world, reference, 'again'));
    const after = await settled(world);
    expect(after.filter((line) => !line.startsWith('again'))).toEqual(both);
    for (const token of tokens) {
      const { code, userInfo } = await userOf(cluster, token);
      const username = `system:serviceaccount:${world.namespace}:robot`;
      expect([code, userInfo?.username]).toEqual([CREATED, username]);
    }
    if (serviceAccountKey === 'rsa') sameBytes(cluster, tokens);
  });
});

/** What upstream signed is, to the byte, what is signed here over the same claims. */
function sameBytes({ files }: Cluster, tokens: readonly string[]): void {
  const signer = createTokenSigner(readFileSync(files.serviceAccountKey, 'utf8'));
  for (const token of tokens) {
    const claims = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString();
    expect(signer.sign(JSON.parse(claims))).toBe(token);
  }
}
