/** What budgets say in a namespace where nothing moves any more, without what differs between runs. */
import { atRest, type Json, type Obj } from '../rig/index.ts';
import type { Snapshot } from './snapshot.ts';
import type { World } from './world.ts';

const CALM_MS = 400;
const CALM_LOOKS = 4;
const DRAWN = /(-[bcdfghjklmnpqrstvwxz2456789]{6,10})?-[a-z0-9]{5}\b/g;
const UID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
/** Budgets that never have pods. */
const PODLESS = new Set(['none', 'nobody']);
const CHOSEN = /Chose \\?"[^"\\]*\\?"/g;

/** The status of all budgets, what pods say about disruptions, and the events. */
export async function settledBudgets(world: World): Promise<Snapshot> {
  return await atRest(() => snapshot(world), {
    looks: CALM_LOOKS,
    everyMs: CALM_MS,
    timeoutMs: 30_000,
    describe: 'budgets at rest',
  });
}

async function snapshot(world: World): Promise<Snapshot> {
  const budgets = (await world.list('poddisruptionbudgets')).map(plainBudget);
  const pods = (await world.list('pods')).map(plainPod);
  const events = (await world.list('events')).flatMap(plainEvent);
  const plain = JSON.parse(plainText(JSON.stringify({ budgets, pods, events }), world));
  return {
    budgets: plain.budgets,
    pods: sorted(plain.pods),
    events: [...new Set(sorted(plain.events))],
  };
}

function plainText(text: string, { namespace }: World): string {
  return text
    .replaceAll(namespace, '<namespace>')
    .replace(UID, '<uid>')
    .replace(DRAWN, '-<drawn>')
    .replace(CHOSEN, 'Chose <one>');
}

function plainBudget({ metadata, spec, status }: Obj): Json {
  const { conditions = [], disruptedPods = {}, ...counts } = status ?? {};
  return {
    name: metadata.name,
    generation: metadata.generation,
    spec,
    counts,
    disrupted: Object.keys(disruptedPods),
    conditions: conditions.map(({ lastTransitionTime: _t, ...rest }: Json) => rest),
  };
}

function plainPod({ metadata, status }: Obj): Json {
  const conditions = (status?.conditions ?? [])
    .filter(({ type }: Json) => type === 'DisruptionTarget' || type === 'Ready')
    .map(({ lastTransitionTime: _t, ...rest }: Json) => rest);
  return { name: metadata.name, phase: status?.phase, conditions };
}

function plainEvent(event: Obj): string[] {
  const { type, reason, message, source, involvedObject: about } = event;
  if (source?.component !== 'controllermanager') return [];
  // A manager may hear of a budget before it hears of its pods.
  if (reason === 'NoPods' && !PODLESS.has(about.name)) return [];
  return [`${about.kind} ${about.name}: ${type} ${reason} ${message}`];
}

function sorted<T>(items: T[]): T[] {
  return items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
