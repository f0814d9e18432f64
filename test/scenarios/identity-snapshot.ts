/** What identity controllers leave behind, without what differs between two runs. */
import { eventually, type Json, type Obj } from '../rig/index.ts';
import type { Snapshot } from './snapshot.ts';
import type { World } from './world.ts';

const CALM_MS = 400;
const CALM_LOOKS = 4;
const UID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;
const BUILT_IN = ['view', 'edit', 'admin'];

/** What is left once nothing moves any more. */
export async function settledIdentity(world: World): Promise<Snapshot> {
  let last = '';
  let calm = 0;
  const look = async (): Promise<Snapshot | undefined> => {
    const now = await snapshot(world);
    const text = JSON.stringify(now);
    calm = text === last ? calm + 1 : 0;
    last = text;
    return calm >= CALM_LOOKS ? now : undefined;
  };
  const options = { timeoutMs: 30_000, everyMs: CALM_MS, describe: 'identities at rest' };
  return await eventually(look, options);
}

async function snapshot(world: World): Promise<Snapshot> {
  const roles = (await world.api.list('clusterroles')).filter(
    ({ metadata }) =>
      metadata.name.startsWith(`${world.namespace}-`) || BUILT_IN.includes(metadata.name),
  );
  const found = { clusterroles: roles.map((role) => plainRole(world, role)) };
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

/** Who manages which fields, without times. */
function managersOf({ managedFields = [] }: Json): Json[] {
  return managedFields.map(({ time: _, ...rest }: Json) => rest);
}

function anonymous(text: string, { namespace }: World): string {
  return text.replaceAll(namespace, '<namespace>').replace(UID, '<uid>').replace(TIME, '<time>');
}
