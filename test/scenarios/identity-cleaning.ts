/**
 * Tokens that were made by themselves and are unused: each case is a namespace that is furnished
 * before the managers start, for the first round comes at once and the next a day later.
 */
import { account, tokenSecret } from './identity-tokens.ts';
import type { Fields, World } from './world.ts';

const LAST_USED = 'kubernetes.io/legacy-token-last-used';
const INVALID_SINCE = 'kubernetes.io/legacy-token-invalid-since';
const LONG_AGO = '2020-01-01';

/** A case: what is there before a manager looks. */
export interface CleaningCase {
  readonly name: string;
  furnish(world: World): Promise<unknown>;
}

/** A Secret that has everything, so that the token controller leaves it alone. */
async function token(world: World, name: string, labels: Fields = {}, fields: Fields = {}) {
  const encode = (text: string): string => Buffer.from(text).toString('base64');
  const data = {
    token: encode('made long ago'),
    namespace: encode(world.namespace),
    'ca.crt': encode(world.cluster.caPem),
  };
  return await world.create(tokenSecret(name, 'robot', { labels, data, ...fields }));
}

async function pod(world: World, name: string, spec: Fields): Promise<void> {
  const container = { name: 'c', image: 'c', ...(spec.container as Fields) };
  const { container: _, ...rest } = spec;
  const metadata = { name };
  await world.create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: { containers: [container], ...rest },
  });
}

/** What is played for the cleaner of legacy tokens. */
export const CLEANING: readonly CleaningCase[] = [
  {
    name: 'a token that was never used is marked',
    furnish: async (world) => {
      await account(world, 'robot', 'key');
      await token(world, 'key', { team: 'a' });
    },
  },
  {
    name: 'a token that was used long ago and marked long ago goes',
    furnish: async (world) => {
      await account(world, 'robot', 'key', 'unused');
      await token(world, 'key', { [LAST_USED]: LONG_AGO, [INVALID_SINCE]: LONG_AGO });
      await token(world, 'unused', { [INVALID_SINCE]: LONG_AGO });
    },
  },
  {
    name: 'a token that was used today stays, marked or not',
    furnish: async (world) => {
      const today = new Date().toISOString().slice(0, LONG_AGO.length);
      await account(world, 'robot', 'key', 'marked');
      await token(world, 'key', { [LAST_USED]: today });
      await token(world, 'marked', { [LAST_USED]: today, [INVALID_SINCE]: LONG_AGO });
    },
  },
  {
    name: 'dates that are none: of use it stays, of the mark it is marked again',
    furnish: async (world) => {
      await account(world, 'robot', 'used', 'marked', 'feb');
      await token(world, 'used', { [LAST_USED]: 'soon', [INVALID_SINCE]: LONG_AGO });
      await token(world, 'marked', { [INVALID_SINCE]: 'soon' });
      await token(world, 'feb', { [LAST_USED]: '2020-02-30', [INVALID_SINCE]: LONG_AGO });
    },
  },
  {
    name: 'a token that its account does not list was made by somebody and stays',
    furnish: async (world) => {
      await account(world, 'robot', 'other');
      await token(world, 'key', { [INVALID_SINCE]: LONG_AGO });
    },
  },
  {
    name: 'tokens that pods name stay',
    furnish: async (world) => {
      await account(world, 'robot', 'pull', 'volume', 'env', 'projected', 'free');
      for (const name of ['pull', 'volume', 'env', 'projected', 'free']) {
        await token(world, name, { [INVALID_SINCE]: LONG_AGO });
      }
      const secretKeyRef = { name: 'env', key: 'token' };
      await pod(world, 'pulls', { imagePullSecrets: [{ name: 'pull' }] });
      await pod(world, 'mounts', { volumes: [{ name: 'v', secret: { secretName: 'volume' } }] });
      await pod(world, 'reads', {
        container: { env: [{ name: 'E', valueFrom: { secretKeyRef } }] },
      });
      const sources = [{ secret: { name: 'projected' } }];
      await pod(world, 'projects', { volumes: [{ name: 'v', projected: { sources } }] });
    },
  },
  {
    name: 'a token that is going already is left to go',
    furnish: async (world) => {
      await account(world, 'robot', 'key');
      await token(world, 'key', {});
      await world.merge('secrets', 'key', { metadata: { finalizers: ['example.com/hold'] } });
      await world.api.remove('secrets', world.namespace, 'key');
    },
  },
];
