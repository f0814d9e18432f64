/**
 * Endpoints, slices and events of a namespace, without what may differ between two runs: drawn names,
 * UIDs, versions, which endpoints of a group came into which of its slices, and trigger times: the
 * reference loses one whenever a sync fails because its cache is behind.
 */
import { atRest, type Json, type Obj } from '../rig/index.ts';
import type { World } from './world.ts';

const CALM_MS = 500;
const CALM_LOOKS = 5;
const TRIGGER = 'endpoints.kubernetes.io/last-change-trigger-time';
/** The suffix that is drawn for names. */
const DRAWN = /(web|db)-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g;

export type Addresses = Readonly<Record<string, Json>>;

/** The addresses of a namespace in which nothing moves any more. */
export async function settledAddresses(world: World): Promise<Addresses> {
  return await atRest(() => addresses(world), {
    looks: CALM_LOOKS,
    everyMs: CALM_MS,
    timeoutMs: 40_000,
    describe: 'a namespace at rest',
  });
}

async function addresses(world: World): Promise<Addresses> {
  const plain = (value: Json): Json => {
    const text = JSON.stringify(value).replaceAll(world.namespace, '<namespace>');
    return JSON.parse(text.replaceAll(DRAWN, '$1-<drawn>'));
  };
  const endpoints = (await world.list('endpoints')).map(plainEndpoints);
  const slices = await world.list('endpointslices');
  const events = (await world.list('events')).filter(isOfManager).map(plainEvent);
  return {
    endpoints: sorted(endpoints.map(plain)),
    slices: sorted(groups(slices).map(plain)),
    events: [...new Set(sorted(events.map(plain)))],
  };
}

function plainEndpoints({ metadata, subsets = [] }: Obj): Json {
  const { name, labels, annotations } = metadata;
  const plainAddress = ({ targetRef, ...rest }: Json): Json => ({
    ...rest,
    target: target(targetRef),
  });
  return {
    name,
    labels,
    annotations: undated(annotations),
    // Their order depends on the UIDs of pods.
    subsets: sorted(
      subsets.map(({ addresses: ready, notReadyAddresses, ports }: Json) => ({
        ready: ready?.map(plainAddress),
        notReady: notReadyAddresses?.map(plainAddress),
        ports,
      })),
    ),
  };
}

/** Slices with the same ports and family together: their sizes and all their endpoints. */
function groups(slices: readonly Obj[]): Json[] {
  const groupOf = ({ addressType, ports, metadata }: Obj): string =>
    JSON.stringify([addressType, ports, metadata.labels?.['kubernetes.io/service-name']]);
  return [...Map.groupBy(slices, groupOf).values()].map((group) => {
    const endpoints: Json[] = group.flatMap((slice) => slice.endpoints ?? []);
    const [first] = group;
    return {
      addressType: first?.addressType,
      ports: first?.ports,
      sizes: group.map((slice) => (slice.endpoints ?? []).length).sort(),
      metadata: sorted(group.map(plainMetadata)),
      endpoints: sorted(endpoints.map(plainEndpoint)),
      hints: endpoints.map(hintText).sort(),
    };
  });
}

function plainMetadata({ metadata }: Obj): Json {
  const { generateName, labels, annotations, deletionTimestamp } = metadata;
  return {
    generateName,
    labels,
    annotations: undated(annotations),
    deleting: deletionTimestamp !== undefined,
    owners: (metadata.ownerReferences ?? []).map(({ uid: _uid, ...rest }: Json) => rest),
  };
}

function plainEndpoint({ hints: _hints, targetRef, ...rest }: Json): Json {
  return { ...rest, target: target(targetRef) };
}

/** Which endpoint of a zone serves another one is chosen freely. */
function hintText({ hints, zone, nodeName, conditions }: Json): string {
  const names = (list: Json[] | undefined) => (list ?? []).map(({ name }) => name).join('+');
  const nodes = names(hints?.forNodes);
  const node = nodes === '' ? '' : ` ${nodeName} -> ${nodes}`;
  return `${zone ?? 'no zone'} (${conditions.ready}) -> ${names(hints?.forZones)}${node}`;
}

function target(reference: Json): Json {
  if (reference === undefined) return undefined;
  const { uid, ...rest } = reference;
  return { ...rest, hasUid: uid !== undefined };
}

function undated({ [TRIGGER]: _time, ...annotations }: Json = {}): Json {
  return annotations;
}

/** The API server tells of repaired cluster IPs whenever it looks them over. */
function isOfManager({ source }: Obj): boolean {
  return source?.component !== undefined;
}

function plainEvent({ involvedObject, type, reason, message, source }: Obj): string {
  const { kind, name } = involvedObject;
  return `${kind} ${name}: ${type} ${reason} (${source?.component}) ${message}`;
}

function sorted<T>(items: T[]): T[] {
  return items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
