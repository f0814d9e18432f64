/** What identity controllers leave behind, without what differs between two runs. */
import { Api, atRest, type Cluster, type Json, type Obj } from '../rig/index.ts';
import type { Snapshot } from './snapshot.ts';
import type { World } from './world.ts';

const CALM_MS = 400;
const CALM_LOOKS = 4;
const UID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;
const BUILT_IN = ['view', 'edit', 'admin'];

/** What is left once nothing moves any more. */
export async function settledIdentity(world: World): Promise<Snapshot> {
  const settled = await atRest(() => snapshot(world), {
    looks: CALM_LOOKS,
    everyMs: CALM_MS,
    timeoutMs: 30_000,
    describe: 'identities at rest',
  });
  // Last, for the API server notes on the Secret that its token was used.
  const tokens = await tokensOf(world);
  const users = await Promise.all(tokens.map((token) => userOf(world.cluster, token)));
  return { ...settled, users: JSON.parse(anonymous(JSON.stringify(users), world)) };
}

/** The tokens of a namespace, by the names of their Secrets. */
async function tokensOf(world: World): Promise<string[]> {
  const secrets = await world.list('secrets');
  return secrets.map(({ data }) => decode(data?.token ?? '')).filter((token) => token !== '');
}

/** As whom the API server lets in who shows this token, or with which answer it does not. */
export async function userOf(cluster: Cluster, token: string): Promise<Json> {
  const holder = new Api(cluster.server, cluster.caPem, { token });
  try {
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const answer = await holder.raw(path, {
      method: 'POST',
      body: JSON.stringify(review),
      headers: { 'Content-Type': 'application/json' },
    });
    const { status } = (await answer.json()) as Json;
    return { code: answer.status, userInfo: status?.userInfo };
  } finally {
    holder.close();
  }
}

function decode(base64: string): string {
  return Buffer.from(base64, 'base64').toString();
}

async function snapshot(world: World): Promise<Snapshot> {
  const roles = (await world.api.list('clusterroles')).filter(
    ({ metadata }) =>
      metadata.name.startsWith(`${world.namespace}-`) || BUILT_IN.includes(metadata.name),
  );
  const found = {
    clusterroles: roles.map((role) => plainRole(world, role)),
    secrets: (await world.list('secrets')).map((secret) => plainSecret(world, secret)),
    serviceaccounts: (await world.list('serviceaccounts')).map(plainAccount),
    events: (await world.list('events')).map(({ reason, message }) => [reason, message]),
  };
  return JSON.parse(anonymous(JSON.stringify(found), world));
}

/** Of the built-in roles only the rules that this scenario gave. */
function plainRole(world: World, { metadata, rules, aggregationRule }: Obj): Json {
  const { name, labels, annotations } = metadata;
  if (BUILT_IN.includes(name)) {
    const ours = (rules ?? []).filter((rule: Json) =>
      (rule.apiGroups ?? []).some((group: string) => group.startsWith(world.namespace)),
    );
    return { name, rules: ours };
  }
  return { name, labels, annotations, rules, aggregationRule, managers: managersOf(metadata) };
}

function plainSecret(world: World, { metadata, type, data = {}, immutable }: Obj): Json {
  const { name, labels, annotations, finalizers } = metadata;
  const values = Object.entries(data as Record<string, string>).map(([key, value]) => [
    key,
    key === 'ca.crt' && decode(value) === world.cluster.caPem ? '<bundle>' : plainValue(value),
  ]);
  const managers = managersOf(metadata).map(({ manager, operation }) => [manager, operation]);
  const deleting = metadata.deletionTimestamp !== undefined;
  return { name, labels, annotations, finalizers, type, values, immutable, deleting, managers };
}

/** Of a token what it says; anything else as it is. */
function plainValue(base64: string): Json {
  const text = decode(base64);
  const parts = text.split('.');
  if (parts.length !== 3) return text;
  const [header = '', claims = '', signature = ''] = parts.map((part) =>
    Buffer.from(part, 'base64url').toString('latin1'),
  );
  const { kid, ...rest } = JSON.parse(header);
  return { header: rest, kidLength: kid.length, claims, signatureLength: signature.length };
}

function plainAccount({ metadata, secrets }: Obj): Json {
  return { name: metadata.name, annotations: metadata.annotations, secrets };
}

/** Who manages which fields, without times. */
function managersOf({ managedFields = [] }: Json): Json[] {
  return managedFields.map(({ time: _, ...rest }: Json) => rest);
}

function anonymous(text: string, { namespace }: World): string {
  return text.replaceAll(namespace, '<namespace>').replace(UID, '<uid>').replace(TIME, '<time>');
}
