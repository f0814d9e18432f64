/** Scenarios of Secrets that hold the token of a ServiceAccount. */
import { always, type Obj } from '../rig/index.ts';
import type { Fields, Scenario, World } from './world.ts';

const TYPE = 'kubernetes.io/service-account-token';
const NAME = 'kubernetes.io/service-account.name';
const UID = 'kubernetes.io/service-account.uid';
const QUIET_MS = 1_500;

/** Creates a ServiceAccount, with Secrets in its list. */
export async function account(world: World, name: string, ...secrets: string[]): Promise<Obj> {
  return await world.create({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name },
    secrets: secrets.map((secret) => ({ name: secret })),
  });
}

/** A Secret that asks for the token of an account. */
export function tokenSecret(name: string, of: string, fields: Fields = {}): Fields {
  const { annotations, labels, ...rest } = fields;
  const metadata = { name, labels, annotations: { [NAME]: of, ...(annotations as Fields) } };
  return { apiVersion: 'v1', kind: 'Secret', type: TYPE, ...rest, metadata };
}

/** Waits until a Secret has a token. */
export async function hasToken(world: World, name: string): Promise<Obj> {
  return await world.until('secrets', name, ({ data }) => (data?.token ?? '') !== '');
}

async function gone(world: World, plural: string, ...names: string[]): Promise<void> {
  for (const name of names) await world.api.waitGone(plural, world.namespace, name);
}

/** What is played for serviceaccount-token. */
export const TOKENS: readonly Scenario[] = [
  {
    name: 'a Secret is filled for the account it names',
    play: async (world) => {
      await account(world, 'robot');
      await world.create(tokenSecret('key', 'robot'));
      await world.create(tokenSecret('second', 'robot', { labels: { team: 'a' } }));
      await world.create(tokenSecret('standard', 'default'));
      for (const name of ['key', 'second', 'standard']) await hasToken(world, name);
    },
  },
  {
    name: 'what a Secret has already stays, except for another CA bundle',
    play: async (world) => {
      const { metadata } = await account(world, 'robot');
      const annotations = { [UID]: metadata.uid, note: 'mine' };
      const data = { 'ca.crt': 'AA==', own: 'AA==', namespace: 'eA==' };
      await world.create(tokenSecret('key', 'robot', { annotations, data }));
      await hasToken(world, 'key');
      const token = Buffer.from('no real token').toString('base64');
      await world.create(tokenSecret('given', 'robot', { data: { token } }));
      await world.until('secrets', 'given', (secret) => secret.data.namespace !== undefined);
    },
  },
  {
    name: 'a token that was emptied is made anew, and a label makes nothing anew',
    play: async (world) => {
      await account(world, 'robot');
      await world.create(tokenSecret('key', 'robot'));
      await hasToken(world, 'key');
      await world.merge('secrets', 'key', { data: { token: '', 'ca.crt': null } });
      await hasToken(world, 'key');
      const { metadata } = await world.merge('secrets', 'key', {
        metadata: { labels: { a: 'b' } },
      });
      const unchanged = async (): Promise<boolean> =>
        (await world.get('secrets', 'key')).metadata.resourceVersion === metadata.resourceVersion;
      await always(unchanged, { forMs: QUIET_MS, describe: 'the Secret as it was' });
    },
  },
  {
    name: 'a Secret without its account does not last',
    play: async (world) => {
      const { metadata } = await account(world, 'robot');
      await world.create(tokenSecret('nobody', 'nobody'));
      await world.create(tokenSecret('other', 'robot', { annotations: { [UID]: 'another' } }));
      await world.create(tokenSecret('right', 'robot', { annotations: { [UID]: metadata.uid } }));
      await gone(world, 'secrets', 'nobody', 'other');
      await hasToken(world, 'right');
    },
  },
  {
    name: 'an account takes its Secrets with it, and no others',
    play: async (world) => {
      await account(world, 'robot');
      await account(world, 'other');
      await world.create(tokenSecret('key', 'robot'));
      await world.create(tokenSecret('second', 'robot'));
      await world.create(tokenSecret('foreign', 'other'));
      await world.create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'opaque' } });
      for (const name of ['key', 'second', 'foreign']) await hasToken(world, name);
      await world.api.remove('serviceaccounts', world.namespace, 'robot');
      await gone(world, 'secrets', 'key', 'second');
    },
  },
  {
    name: 'an account that is made anew gets no token of the old one',
    play: async (world) => {
      await account(world, 'robot');
      await world.create(tokenSecret('key', 'robot'));
      await hasToken(world, 'key');
      await world.api.remove('serviceaccounts', world.namespace, 'robot');
      await account(world, 'robot');
      await gone(world, 'secrets', 'key');
      await world.create(tokenSecret('key', 'robot'));
      await hasToken(world, 'key');
    },
  },
  {
    name: 'a Secret that is deleted leaves the list of its account',
    play: async (world) => {
      await account(world, 'robot', 'key', 'second', 'never');
      await world.create(tokenSecret('key', 'robot'));
      await world.create(tokenSecret('second', 'robot'));
      for (const name of ['key', 'second']) await hasToken(world, name);
      await world.api.remove('secrets', world.namespace, 'key');
      await world.until('serviceaccounts', 'robot', ({ secrets }) => secrets.length === 2);
    },
  },
  {
    name: 'a Secret that must not change stays as it is, others are none of this',
    play: async (world) => {
      await account(world, 'robot');
      await world.create(tokenSecret('fixed', 'robot', { immutable: true }));
      const annotations = { [NAME]: 'robot' };
      const metadata = { name: 'opaque', annotations };
      await world.create({ apiVersion: 'v1', kind: 'Secret', type: 'Opaque', metadata });
      await world.create(tokenSecret('key', 'robot'));
      await hasToken(world, 'key');
    },
  },
];
