/** What autoscalers say in a namespace at rest, without what differs between two runs. */
import { atRest, type Json, type Obj } from '../rig/index.ts';
import type { Snapshot } from './snapshot.ts';
import type { World } from './world.ts';

const CALM_MS = 500;
const CALM_LOOKS = 5;
const TARGETS = ['deployments', 'replicationcontrollers', 'shelves'];
const DRAWN = /-[bcdfghjklmnpqrstvwxz2456789]{6,10}-[a-z0-9]{5}\b/g;
const SEVERAL = /(?<=multiple HPAs: )\[[^\]]*\]/g;

/** Status and events of all autoscalers, and the size of what they scale. */
export async function settledAutoscalers(world: World): Promise<Snapshot> {
  return await atRest(() => snapshot(world), {
    looks: CALM_LOOKS,
    everyMs: CALM_MS,
    timeoutMs: 40_000,
    describe: 'autoscalers at rest',
  });
}

async function snapshot(world: World): Promise<Snapshot> {
  const autoscalers = (await world.list('horizontalpodautoscalers')).map(plainAutoscaler);
  const lists = await Promise.all(TARGETS.map((plural) => world.list(plural)));
  const targets = lists.flat().map(({ kind, metadata, spec, status }) => ({
    kind,
    name: metadata.name,
    wanted: spec?.replicas,
    is: status?.replicas,
  }));
  const events = (await world.list('events')).flatMap(plainEvent);
  const plain = JSON.parse(plainText(JSON.stringify({ autoscalers, targets, events }), world));
  return { ...plain, events: [...new Set(plain.events)].sort() };
}

/** Those who share a target are named in any order. */
function plainText(text: string, { namespace }: World): string {
  return text
    .replaceAll(namespace, '<namespace>')
    .replace(DRAWN, '-<drawn>')
    .replace(SEVERAL, (list) => list.slice(1, -1).split(' ').sort().join(' '));
}

function plainAutoscaler({ metadata, status }: Obj): Json {
  const { lastScaleTime, conditions = [], ...rest } = status ?? {};
  return {
    name: metadata.name,
    status: rest,
    scaled: lastScaleTime !== undefined,
    conditions: conditions.map(({ lastTransitionTime: _t, ...one }: Json) => one),
  };
}

function plainEvent(event: Obj): string[] {
  const { type, reason, message, source, involvedObject: about } = event;
  if (source?.component !== 'horizontal-pod-autoscaler') return [];
  // The scenario changed the autoscaler while its status was being written.
  if (reason === 'FailedUpdateStatus' && message.includes('has been modified')) return [];
  return [`${about.kind} ${about.name}: ${type} ${reason} ${message}`];
}
