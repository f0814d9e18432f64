/**
 * Hints of endpoints: which zones, and which nodes, should send them traffic. For the field
 * trafficDistribution an endpoint serves its own zone (or also node); hints of nobody's wish go.
 */
import type {
  EndpointHints,
  EndpointSlice,
  Service,
  SliceEndpoint,
} from '../../api/types/index.ts';
import { isReady } from '../_kit/slices/endpoint-set.ts';
import { type Draft, draftOf } from './draft.ts';

const MODE_ANNOTATION = 'service.kubernetes.io/topology-mode';
const FORMER_MODE_ANNOTATION = 'service.kubernetes.io/topology-aware-hints';
const PREFER_CLOSE = 'PreferClose';
const PREFER_SAME_ZONE = 'PreferSameZone';
const PREFER_SAME_NODE = 'PreferSameNode';

/** The slices of one family as a sync leaves them. */
export interface SliceSet {
  readonly create: readonly Draft[];
  readonly update: readonly Draft[];
  readonly unchanged: readonly EndpointSlice[];
}

/** True if the Service asks by annotation for hints by the CPUs of zones; the former name wins. */
export function asksForTopology({ metadata: { annotations = {} } }: Service): boolean {
  const mode = annotations[FORMER_MODE_ANNOTATION] ?? annotations[MODE_ANNOTATION];
  return mode === 'Auto' || mode === 'auto';
}

/** The trafficDistribution that takes effect; the annotation wins over it. */
export function distributionOf(service: Service, preferSame: boolean): string | undefined {
  const value = service.spec?.trafficDistribution;
  if (asksForTopology(service)) return undefined;
  const known =
    value === PREFER_CLOSE ||
    (preferSame && (value === PREFER_SAME_ZONE || value === PREFER_SAME_NODE));
  return known ? value : undefined;
}

/** Takes hints away, also from slices that are else unchanged. */
export function withoutHints(set: SliceSet): SliceSet {
  const strip = (endpoint: SliceEndpoint): SliceEndpoint => hinted(endpoint, undefined);
  return rehinted(set, strip, ({ hints }) => hints !== undefined);
}

/** Gives each ready endpoint a hint for its own zone, and for its own node if that is asked for. */
export function withCloseHints(set: SliceSet, distribution: string): SliceSet {
  const nodes = distribution === PREFER_SAME_NODE;
  const hint = (endpoint: SliceEndpoint): SliceEndpoint =>
    isReady(endpoint) ? hinted(endpoint, closeHints(endpoint, nodes)) : endpoint;
  const wrong = (endpoint: SliceEndpoint): boolean =>
    isReady(endpoint) && !sameHints(endpoint.hints, closeHints(endpoint, nodes));
  return rehinted(set, hint, wrong);
}

/** The endpoint with these hints, or without any. */
export function hinted(endpoint: SliceEndpoint, hints: EndpointHints | undefined): SliceEndpoint {
  const { hints: _, ...others } = endpoint;
  return hints === undefined ? others : { ...others, hints };
}

/** The set with these unchanged slices changed as well; their drafts come last. */
export function alsoUpdated(set: SliceSet, slices: readonly EndpointSlice[]): SliceSet {
  if (slices.length === 0) return set;
  const drafts = slices.map(draftOf);
  for (const { changes } of drafts) changes.hints = true;
  return {
    create: set.create,
    update: [...set.update, ...drafts],
    unchanged: set.unchanged.filter((slice) => !slices.includes(slice)),
  };
}

function rehinted(
  set: SliceSet,
  hint: (endpoint: SliceEndpoint) => SliceEndpoint,
  wrong: (endpoint: SliceEndpoint) => boolean,
): SliceSet {
  const wrongOnes = set.unchanged.filter(({ endpoints }) => (endpoints ?? []).some(wrong));
  const all = alsoUpdated(set, wrongOnes);
  for (const draft of [...all.create, ...all.update]) draft.endpoints = draft.endpoints.map(hint);
  return all;
}

function closeHints({ zone, nodeName }: SliceEndpoint, nodes: boolean): EndpointHints | undefined {
  const forZones = zone === undefined ? undefined : { forZones: [{ name: zone }] };
  const forNodes = nodes && nodeName !== undefined ? { forNodes: [{ name: nodeName }] } : undefined;
  return forZones || forNodes ? { ...forZones, ...forNodes } : undefined;
}

/** True if both hints name the same zones and nodes, in order. */
export function sameHints(a: EndpointHints = {}, b: EndpointHints = {}): boolean {
  return sameNames(a.forZones, b.forZones) && sameNames(a.forNodes, b.forNodes);
}

type Names = readonly { readonly name: string }[];

function sameNames(a: Names = [], b: Names = []): boolean {
  return a.length === b.length && a.every(({ name }, at) => name === b[at]?.name);
}
