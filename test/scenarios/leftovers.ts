/** What is left in a namespace once controllers have cleaned up, without what differs between runs. */
import { atRest, type Json, type Obj } from '../rig/index.ts';
import type { World } from './world.ts';

const KINDS = [
  'configmaps',
  'secrets',
  'services',
  'persistentvolumeclaims',
  'deployments',
  'replicasets',
  'jobs',
  'pods',
  'resourcequotas',
  'widgets',
] as const;
const CALM_MS = 400;
const CALM_LOOKS = 5;
const UID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** What controllers draw for pods and ReplicaSets. */
const DRAWN = /-[bcdfghjklmnpqrstvwxz2456789]{5,10}\b/g;

export type Leftovers = Readonly<Record<string, Json>>;

/** The leftovers of a namespace in which nothing moves any more. */
export async function settledLeftovers(world: World): Promise<Leftovers> {
  return await atRest(() => leftovers(world), {
    looks: CALM_LOOKS,
    everyMs: CALM_MS,
    timeoutMs: 30_000,
    describe: 'a namespace at rest',
  });
}

async function leftovers(world: World): Promise<Leftovers> {
  const found: Record<string, Json> = {};
  for (const plural of KINDS) {
    const objects = await world.list(plural);
    found[plural] = sorted(objects.map((object) => plain(plural, object, world.namespace)));
  }
  const events = await world.list('events');
  found.events = [...new Set(sorted(events.map((event) => eventText(event, world.namespace))))];
  return found;
}

function plain(plural: string, { metadata, status }: Obj, namespace: string): Json {
  const owners = (metadata.ownerReferences ?? []).map(({ uid: _uid, ...rest }: Json) => rest);
  const base = {
    name: metadata.name,
    owners,
    finalizers: metadata.finalizers ?? [],
    deleting: metadata.deletionTimestamp !== undefined,
  };
  const more =
    plural === 'resourcequotas'
      ? { status }
      : plural === 'pods'
        ? { phase: status?.phase, conditions: disruptions(status) }
        : {};
  return JSON.parse(anonymous(JSON.stringify({ ...base, ...more }), namespace));
}

function disruptions(status: Json): Json[] {
  return (status?.conditions ?? [])
    .filter(({ type }: Json) => type === 'DisruptionTarget')
    .map(({ lastTransitionTime: _t, lastProbeTime: _p, ...rest }: Json) => rest);
}

function eventText(event: Obj, namespace: string): string {
  const { kind, name } = event.involvedObject;
  const { type, reason, message, source } = event;
  return anonymous(
    `${kind} ${name}: ${type} ${reason} ${message} (${source?.component})`,
    namespace,
  );
}

function anonymous(text: string, namespace: string): string {
  return text.replaceAll(namespace, '<namespace>').replace(UID, '<uid>').replace(DRAWN, '-<drawn>');
}

function sorted<T>(items: T[]): T[] {
  return items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
