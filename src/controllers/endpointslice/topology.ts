/**
 * Hints by the annotation topology-mode=Auto: each zone gets endpoints in proportion to its CPUs,
 * its own first. Follows upstream's topologycache, with names in order where upstream takes any.
 */
import type { EndpointSlice } from '../../api/types/index.ts';
import { isReady } from '../_kit/slices/endpoint-set.ts';
import type { Draft } from './draft.ts';
import { alsoUpdated, hinted, type SliceSet, sameHints, withoutHints } from './hints.ts';

/** How much more than its share an endpoint may have to bear, at most. */
const OVERLOAD_THRESHOLD = 0.2;
const MINIMUM_SHARE = 1 / (1 + OVERLOAD_THRESHOLD);
/** Fractions of an endpoint below these are not worth moving one. */
const WORTH_MOVING = 1;
const WORTH_TAKING_PART = 0.5;

/** Share of the CPUs by zone, of at least two; undefined: not known well enough. */
export type ZoneRatios = ReadonlyMap<string, number> | undefined;
/** How many endpoints have a hint for each zone. */
export type ZoneCounts = ReadonlyMap<string, number>;

/** Slices with hints and what each zone got; or without, and why. */
export interface TopologyHints {
  readonly set: SliceSet;
  readonly counts?: ZoneCounts;
  readonly problem?: string;
}

interface Allocation {
  readonly minimum: number;
  readonly maximum: number;
  readonly desired: number;
}

type Allocations = ReadonlyMap<string, Allocation>;

/** Distributes the ready endpoints of one family over the zones. */
export function withTopologyHints(set: SliceSet, ratios: ZoneRatios): TopologyHints {
  const total = readyIn(set);
  const allocations = allocate(ratios, total);
  if (typeof allocations === 'string') return refused(set, allocations);
  const counts = new Map<string, number>();
  const outdated: EndpointSlice[] = [];
  for (const slice of set.unchanged) {
    const hints = validHints(slice, counts, allocations);
    if (hints === undefined) outdated.push(slice);
    for (const [zone, count] of hints ?? []) add(counts, zone, count);
  }
  const all = alsoUpdated(set, outdated);
  if (!hintOwnZones(all, counts)) {
    return refused(set, 'One or more endpoints do not have a zone specified');
  }
  redistribute(all, allocations, counts);
  if (counts.size === 0) return refused(set, 'No hints allocated for zones');
  return { set: withoutVain(all, set), counts };
}

/** Slices that were looked at again only for their hints, and got the same, need no write. */
function withoutVain(all: SliceSet, before: SliceSet): SliceSet {
  const again = all.update.slice(before.update.length);
  const vain = new Set(again.filter(hasStoredHints).map(({ stored }) => stored));
  return {
    create: all.create,
    update: all.update.filter(({ stored }) => !vain.has(stored)),
    unchanged: before.unchanged.filter((slice) => all.unchanged.includes(slice) || vain.has(slice)),
  };
}

function hasStoredHints({ stored, endpoints }: Draft): boolean {
  return endpoints.every(({ hints }, at) => sameHints(hints, stored?.endpoints?.[at]?.hints));
}

/** True if a zone has fewer endpoints than its CPUs ask for, so that others would be overloaded. */
export function isOverloaded(counts: ZoneCounts, ratios: ZoneRatios): boolean {
  if (counts.size === 0) return false;
  if (ratios === undefined) return true;
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return [...ratios].some(([zone, ratio]) => {
    const count = counts.get(zone);
    return count === undefined || count < Math.ceil(total * ratio * MINIMUM_SHARE);
  });
}

function refused(set: SliceSet, problem: string): TopologyHints {
  return { set: withoutHints(set), problem };
}

function readyIn({ create, update, unchanged }: SliceSet): number {
  let count = 0;
  for (const { endpoints } of [...create, ...update, ...unchanged]) {
    for (const endpoint of endpoints ?? []) if (isReady(endpoint)) count++;
  }
  return count;
}

/** What each zone must, may and should get; or why there is no such distribution. */
function allocate(ratios: ZoneRatios, endpoints: number): Allocations | string {
  if (ratios === undefined) {
    return (
      'Insufficient Node information: allocatable CPU or zone not specified on one or more ' +
      'nodes'
    );
  }
  const counted = `(${endpoints} endpoints, ${ratios.size} zones)`;
  if (ratios.size > endpoints) return `Insufficient number of endpoints ${counted}`;
  const shares = Array.from(ratios, ([zone, ratio]) => {
    const share = ratio * endpoints;
    const minimum = Math.ceil(share * MINIMUM_SHARE);
    return { zone, minimum, desired: Math.max(share, minimum) };
  });
  const spare = shares.reduce((left, { minimum }) => left - minimum, endpoints);
  if (spare < 0) {
    return (
      'Unable to allocate minimum required endpoints to each zone without exceeding ' +
      `overload threshold ${counted}`
    );
  }
  return new Map(
    shares.map(({ zone, minimum, desired }) => [
      zone,
      { minimum, desired, maximum: minimum + spare },
    ]),
  );
}

/** Hints by zone of a slice that may stay as it is; undefined if it may not. */
function validHints(
  { endpoints }: EndpointSlice,
  counts: ZoneCounts,
  allocations: Allocations,
): ZoneCounts | undefined {
  const found = new Map<string, number>();
  for (const endpoint of endpoints ?? []) {
    if (!isReady(endpoint)) continue;
    const zones = endpoint.hints?.forZones ?? [];
    if (zones.length === 0) return undefined;
    for (const { name } of zones) {
      if (!allocations.has(name)) return undefined;
      add(found, name, 1);
    }
  }
  for (const [zone, count] of found) {
    const { maximum = 0 } = allocations.get(zone) ?? {};
    if (count + (counts.get(zone) ?? 0) > maximum) return undefined;
  }
  return found;
}

/** Each ready endpoint of a slice that is written serves its own zone; false if one has none. */
function hintOwnZones({ create, update }: SliceSet, counts: Map<string, number>): boolean {
  for (const draft of [...create, ...update]) {
    for (const [at, endpoint] of draft.endpoints.entries()) {
      if (!isReady(endpoint)) continue;
      const { zone } = endpoint;
      if (!zone) return false;
      add(counts, zone, 1);
      draft.endpoints[at] = hinted(endpoint, { forZones: [{ name: zone }] });
    }
  }
  return true;
}

/** Zones with too many endpoints give some to zones with too few. */
function redistribute(
  { create, update }: SliceSet,
  allocations: Allocations,
  counts: Map<string, number>,
): void {
  const { giving, receiving } = moves(allocations, counts);
  for (const draft of [...create, ...update]) {
    for (const [at, endpoint] of draft.endpoints.entries()) {
      if (giving.size === 0 || receiving.size === 0) return;
      const { zone = '' } = endpoint;
      if (!isReady(endpoint) || !giving.has(zone)) continue;
      const [receiver = ''] = receiving.keys();
      draft.endpoints[at] = hinted(endpoint, { forZones: [{ name: receiver }] });
      takeOne(giving, zone);
      takeOne(receiving, receiver);
      add(counts, zone, -1);
      add(counts, receiver, 1);
    }
  }
}

/** Whole endpoints to be given and received by zone, the largest differences first. */
function moves(
  allocations: Allocations,
  counts: ZoneCounts,
): { readonly giving: Map<string, number>; readonly receiving: Map<string, number> } {
  const surplus = new Map<string, number>();
  const need = new Map<string, number>();
  for (const zone of [...allocations.keys()].sort()) {
    const difference = (counts.get(zone) ?? 0) - (allocations.get(zone)?.desired ?? 0);
    if (difference > 0) surplus.set(zone, difference);
    if (difference < 0) need.set(zone, -difference);
  }
  const giving = new Map<string, number>();
  const receiving = new Map<string, number>();
  for (;;) {
    const [giver, toGive] = largest(surplus);
    const [receiver, toReceive] = largest(need);
    const whole = toGive >= WORTH_MOVING || toReceive >= WORTH_MOVING;
    const both = toGive >= WORTH_TAKING_PART && toReceive >= WORTH_TAKING_PART;
    if (!whole || !both) return { giving, receiving };
    add(giving, giver, 1);
    add(surplus, giver, -1);
    add(receiving, receiver, 1);
    add(need, receiver, -1);
  }
}

function largest(amounts: ReadonlyMap<string, number>): readonly [string, number] {
  let most: readonly [string, number] = ['', 0];
  for (const entry of amounts) if (entry[1] > most[1]) most = entry;
  return most;
}

function add(counts: Map<string, number>, zone: string, more: number): void {
  counts.set(zone, (counts.get(zone) ?? 0) + more);
}

function takeOne(left: Map<string, number>, zone: string): void {
  const count = left.get(zone) ?? 0;
  if (count > 1) left.set(zone, count - 1);
  else left.delete(zone);
}
