/**
 * What a namespace looks like once a scenario has played, without what may differ between two runs:
 * names that were drawn, UIDs, versions, times, hashes.
 */
import { atRest, type Json, type Obj } from '../rig/index.ts';
import type { World } from './world.ts';

const KINDS = [
  'deployments',
  'replicasets',
  'replicationcontrollers',
  'statefulsets',
  'daemonsets',
  'controllerrevisions',
  'persistentvolumeclaims',
  'cronjobs',
  'jobs',
  'pods',
] as const;
const CALM_MS = 400;
const CALM_LOOKS = 4;
const REVISION = 'deployment.kubernetes.io/revision';
const HASH = 'pod-template-hash';
const REVISION_HASH = 'controller-revision-hash';
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|(?<offset>[+-]\d\d:\d\d))/g;
/** In events about ReplicaSets that are gone by now. */
const FORMER_SET = /(ReplicaSet web-)[bcdfghjklmnpqrstvwxz2456789]{6,10}(?=:)/g;
/** In messages about pods that were drawn a name. */
const DRAWN_POD = /(pods \\"[^"\\]*-)[a-z0-9]{5}(?=\\")/g;
/** Kinds whose events are compared with their messages. */
const TOLD_IN_FULL = new Set(['Job', 'CronJob']);
/** At the end of messages about pods that are gone by now. */
const DRAWN_NAME = /(?<= pod: .*-)[bcdfghjklmnpqrstvwxz2456789]{5}$/;
/** In labels and selectors of Jobs. */
const UID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const TOKEN_VOLUME = /kube-api-access-[a-z0-9]{5}/g;

export interface Snapshot {
  readonly [plural: string]: Json;
}

/** The snapshot of a namespace in which nothing moves any more. */
export async function settledSnapshot(world: World): Promise<Snapshot> {
  return await atRest(() => snapshot(world), {
    looks: CALM_LOOKS,
    everyMs: CALM_MS,
    timeoutMs: 30_000,
    describe: 'a namespace at rest',
  });
}

/** Reads a namespace and takes out what may differ. */
async function snapshot(world: World): Promise<Snapshot> {
  const objects: Record<string, Obj[]> = {};
  for (const plural of KINDS) objects[plural] = await world.list(plural);
  const events = await world.list('events');
  const rename = renamer(objects, world.namespace);
  const plain: Record<string, Json> = {};
  for (const plural of KINDS) {
    const plainOne = (object: Obj): Json => rename(plainObject(plural, object));
    plain[plural] = sorted((objects[plural] ?? []).map(plainOne));
  }
  plain.events = [...new Set(sorted(events.map((event) => rename(plainEvent(event)))))];
  return plain;
}

function sorted<T>(items: T[]): T[] {
  return items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

function plainEvent(event: Obj): string {
  const { kind, name } = event.involvedObject;
  const about = `${kind} ${kind === 'Pod' ? '' : name}`;
  const told = `${about}: ${event.type} ${event.reason} (${event.source?.component})`;
  if (!TOLD_IN_FULL.has(kind)) return told;
  return `${told}: ${event.message.replace(DRAWN_NAME, '<drawn>')}`;
}

function plainObject(plural: string, object: Obj): Json {
  const { metadata, spec, status } = object;
  const { name, labels, annotations, finalizers } = metadata;
  const owners = (metadata.ownerReferences ?? []).map(({ uid: _uid, ...rest }: Json) => rest);
  const base = {
    name: metadata.generateName ?? name,
    labels,
    annotations,
    finalizers,
    owners,
    deleting: metadata.deletionTimestamp !== undefined,
  };
  if (plural === 'pods') return { ...base, ...podState(object) };
  const { data, revision } = object;
  if (plural === 'controllerrevisions') return { ...base, data, revision };
  const current = status?.observedGeneration === metadata.generation;
  const { observedGeneration: _o, ...rest } = status ?? {};
  const told = { ...rest, ...activeOf(rest), conditions: conditionsOf(status) };
  return { ...base, spec, status: told, current };
}

/** The active Jobs of a CronJob by their names. */
function activeOf({ active }: Json): Json {
  if (!Array.isArray(active)) return {};
  return {
    active: active.map(({ uid: _uid, resourceVersion: _version, ...rest }: Json) => rest),
  };
}

function podState({ spec, status }: Obj): Json {
  const { nodeName, ...rest } = spec;
  const ready = (status?.conditions ?? []).find((c: Json) => c.type === 'Ready')?.status;
  return { spec: rest, bound: nodeName !== undefined, phase: status?.phase, ready };
}

function conditionsOf(status: Json): Json[] {
  const conditions = (status?.conditions ?? []).map(
    ({ lastUpdateTime: _u, lastTransitionTime: _t, ...rest }: Json) => rest,
  );
  return sorted(conditions);
}

/** Replaces hashes by the revision they belong to, and drawn text by words. */
function renamer(objects: Record<string, Obj[]>, namespace: string): (value: Json) => Json {
  const sets = [...(objects.replicasets ?? [])].sort((a, b) => revisionOf(a) - revisionOf(b));
  const names = new Map<string, string>();
  for (const set of sets) {
    const hash = set.metadata.labels?.[HASH];
    const owner = set.metadata.ownerReferences?.[0]?.name ?? 'free';
    if (hash !== undefined) names.set(hash, `<hash of ${owner} ${revisionOf(set)}>`);
  }
  // The names of a StatefulSet's revisions have no such label and are the same in both runs.
  for (const { metadata, revision } of objects.controllerrevisions ?? []) {
    const hash = metadata.labels?.[REVISION_HASH];
    const owner = metadata.ownerReferences?.[0]?.name ?? 'free';
    if (hash !== undefined) names.set(hash, `<hash of ${owner} ${revision}>`);
  }
  // Jobs of CronJobs are named by the minute, pods of Jobs stand in messages.
  const jobs = (objects.jobs ?? []).map(({ metadata }) => metadata);
  for (const [at, { name, ownerReferences = [] }] of jobs.sort(byName).entries()) {
    if (ownerReferences[0]?.kind === 'CronJob') names.set(name, `<job ${at}>`);
  }
  for (const { metadata } of objects.pods ?? []) {
    if (metadata.generateName) names.set(metadata.name, `${metadata.generateName}<drawn>`);
  }
  return (value) => {
    let text = JSON.stringify(value);
    for (const [hash, name] of names) text = text.replaceAll(hash, name);
    text = text.replaceAll(namespace, '<namespace>').replaceAll(TIME, '<time$<offset>>');
    text = text
      .replaceAll(UID, '<uid>')
      .replaceAll(TOKEN_VOLUME, '<token volume>')
      .replaceAll(DRAWN_POD, '$1<drawn>');
    return JSON.parse(text.replaceAll(FORMER_SET, '$1<hash of a former set>'));
  };
}

function byName(a: Json, b: Json): number {
  return a.name < b.name ? -1 : 1;
}

function revisionOf(set: Obj): number {
  return Number(set.metadata.annotations?.[REVISION] ?? 0);
}
