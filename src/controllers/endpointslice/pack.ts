/**
 * Packing the endpoints of one set of ports into slices with as few writes as possible, by the
 * steps of upstream's reconcileByPortMapping: endpoints stay where they are, what is new goes first
 * into slices that are written anyway, the rest into one slice that it nearly fills, or new ones.
 */
import type { EndpointSlice, Service, SliceEndpoint, SlicePort } from '../../api/types/index.ts';
import { type EndpointSet, endpointKey, sameEndpoint } from '../_kit/slices/endpoint-set.ts';
import { type Draft, draftOf, fill, newDraft } from './draft.ts';
import { labelsFollow } from './labels.ts';

/** One set of ports and what is wanted at it. */
export interface PortGroup {
  readonly addressType: string;
  readonly ports: readonly SlicePort[];
  readonly wanted: EndpointSet;
}

/** What becomes of the slices of a group, and how many endpoints came and went. */
export interface Packing {
  readonly create: readonly Draft[];
  readonly update: readonly Draft[];
  /** They would be empty. */
  readonly remove: readonly EndpointSlice[];
  readonly added: number;
  readonly removed: number;
}

/** `slices` are those stored of this group, by name. */
export function pack(
  service: Service,
  slices: readonly EndpointSlice[],
  group: PortGroup,
  endpointsMax: number,
): Packing {
  const missing = new Map(group.wanted);
  const update: Draft[] = [];
  const unchanged: EndpointSlice[] = [];
  const remove: EndpointSlice[] = [];
  let removed = 0;
  for (const slice of slices) {
    const draft = takeWanted(slice, missing);
    const { changes } = draft;
    const touched = changes.removed > 0 || changes.updated > 0;
    removed += changes.removed;
    draft.relabeled = touched || !labelsFollow(slice, service);
    if (touched && draft.endpoints.length === 0) remove.push(slice);
    else if (draft.relabeled) update.push(draft);
    else unchanged.push(slice);
  }
  let rest = inOrder(missing);
  for (const draft of fullestFirst(update)) rest = fill(draft, rest, endpointsMax);
  const create: Draft[] = [];
  while (rest.length > 0) {
    const roomy = rest.length < endpointsMax ? bestFit(unchanged, rest.length, endpointsMax) : -1;
    const [stored] = roomy < 0 ? [] : unchanged.splice(roomy, 1);
    const draft = stored === undefined ? newDraft(group.addressType, group.ports) : draftOf(stored);
    rest = fill(draft, rest, endpointsMax);
    (stored === undefined ? create : update).push(draft);
  }
  return { create, update, remove, added: missing.size, removed };
}

/** Keeps of a slice what is wanted, in its wanted state; that is no longer missing then. */
function takeWanted(slice: EndpointSlice, missing: EndpointSet): Draft {
  const draft = draftOf(slice);
  draft.endpoints = [];
  for (const endpoint of slice.endpoints ?? []) {
    const key = endpointKey(endpoint);
    const wanted = missing.get(key);
    if (wanted === undefined) {
      draft.changes.removed++;
      continue;
    }
    missing.delete(key);
    draft.endpoints.push(wanted);
    if (!sameEndpoint(wanted, endpoint)) draft.changes.updated++;
  }
  return draft;
}

/** By identity, so that what comes out doesn't depend on the order of pods in a cache. */
function inOrder(missing: EndpointSet): readonly SliceEndpoint[] {
  const entries = [...missing].sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([, endpoint]) => endpoint);
}

function fullestFirst(drafts: readonly Draft[]): readonly Draft[] {
  return drafts.toSorted((a, b) => b.endpoints.length - a.endpoints.length);
}

/** Index of the slice that so many more endpoints fill best, all of them; -1 if none has room. */
function bestFit(slices: readonly EndpointSlice[], more: number, endpointsMax: number): number {
  let best = -1;
  let leastLeft = endpointsMax;
  for (const [at, { endpoints }] of slices.entries()) {
    const left = endpointsMax - more - (endpoints ?? []).length;
    if (left < 0 || left >= leastLeft) continue;
    best = at;
    leastLeft = left;
  }
  return best;
}
