/**
 * What the mirrored slices of Endpoints must look like: one for each set of ports and family.
 * Follows upstream's reconciler of the mirroring controller.
 */
import { controllerReference, sameMap } from '../../api/meta.ts';
import { ENDPOINTS } from '../../api/resource.ts';
import { SERVICE_NAME_LABEL } from '../../api/service.ts';
import type { EndpointSlice, Endpoints, SliceEndpoint } from '../../api/types/index.ts';
import { endpointKey, sameEndpoint } from '../_kit/slices/endpoint-set.ts';
import type { GroupCount } from '../_kit/slices/gauges.ts';
import {
  LEADER_ANNOTATION,
  SLICE_MANAGER_LABEL,
  slicePrefix,
  TRIGGER_TIME_ANNOTATION,
} from '../_kit/slices/names.ts';
import { portsText } from '../_kit/slices/ports.ts';
import { SLICE_TYPE, type SliceBody, type SliceWrites } from '../_kit/slices/write.ts';
import { groupKey, type WantedGroup, wantedEndpoints } from './wanted.ts';

const MANAGER = 'endpointslicemirroring-controller.k8s.io';
const SKIP_LABEL = 'endpointslice.kubernetes.io/skip-mirror';
const LAST_APPLIED_ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';

/** What a decision looks at. */
export interface Observed {
  readonly endpoints: Endpoints;
  /** Those mirrored from these Endpoints, by name. */
  readonly slices: readonly EndpointSlice[];
}

/** An event about the Endpoints. */
export interface MirrorEvent {
  readonly reason: 'InvalidIPAddress' | 'TooManyAddressesToMirror';
  readonly message: string;
}

export interface MirrorDecision {
  readonly writes: SliceWrites;
  /** Slices that are right, to be known as such. */
  readonly right: readonly EndpointSlice[];
  readonly events: readonly MirrorEvent[];
  readonly skipped: number;
  readonly totals: Totals;
  readonly groups: readonly GroupCount[];
}

/** Endpoints of slices that came, changed and went. */
export interface Totals {
  readonly added: number;
  readonly updated: number;
  readonly removed: number;
}

type Labels = Readonly<Record<string, string>>;
type Update = SliceWrites['update'][number];

/** True unless the Endpoints ask not to be mirrored, or serve as a lock. */
export function mayMirror({ metadata: { labels = {}, annotations = {} } }: Endpoints): boolean {
  return labels[SKIP_LABEL] !== 'true' && !(LEADER_ANNOTATION in annotations);
}

/** True if this controller writes an object with these labels. */
export function isMirrored(labels: Labels): boolean {
  return labels[SLICE_MANAGER_LABEL] === MANAGER;
}

/** `addressesMax` is how many of a subset are mirrored. */
export function decide({ endpoints, slices }: Observed, addressesMax: number): MirrorDecision {
  const { groups, invalid, skipped } = wantedEndpoints(endpoints.subsets ?? [], addressesMax);
  const stored = Map.groupBy(slices, ({ addressType, ports }) => groupKey(addressType, ports));
  const decided = Array.from(groups, ([key, group]) => {
    const ofGroup = stored.get(key) ?? [];
    stored.delete(key);
    return decideGroup(endpoints, ofGroup, group);
  });
  const former = [...stored.values()].flat();
  const sum = (of: keyof Totals): number => decided.reduce((n, { totals }) => n + totals[of], 0);
  return {
    writes: recycled(
      decided.flatMap(({ create }) => create),
      decided.flatMap(({ update }) => update),
      [...decided.flatMap(({ remove }) => remove), ...former],
    ),
    right: decided.flatMap(({ right }) => right),
    events: eventsFor(invalid, skipped, addressesMax),
    skipped,
    totals: { added: sum('added'), updated: sum('updated'), removed: sum('removed') },
    groups: decided.map(({ count }) => count),
  };
}

interface GroupDecision {
  readonly create: readonly Update[];
  readonly update: readonly Update[];
  readonly remove: readonly EndpointSlice[];
  readonly right: readonly EndpointSlice[];
  readonly totals: Totals;
  readonly count: GroupCount;
}

function decideGroup(
  endpoints: Endpoints,
  stored: readonly EndpointSlice[],
  group: WantedGroup,
): GroupDecision {
  const none = { create: [], update: [], right: [] };
  const { size } = group.wanted;
  if (size === 0) {
    const removed = stored.reduce((n, slice) => n + (slice.endpoints ?? []).length, 0);
    const totals = { added: 0, updated: 0, removed };
    return { ...none, remove: stored, totals, count: { endpoints: 0, slices: 0 } };
  }
  const count = { endpoints: size, slices: 1 };
  const [first, ...remove] = stored;
  if (first === undefined) {
    const because = `${size} ${group.family} endpoints at ${portsText(group.ports)} have no slice`;
    const create = [{ body: bodyOf(endpoints, group), because }];
    return { ...none, create, remove, totals: { added: size, updated: 0, removed: 0 }, count };
  }
  const totals = compare(first, group);
  const wrong = whatIsWrong(endpoints, first, totals);
  if (wrong === undefined) return { ...none, right: [first], remove, totals, count };
  const update = [{ body: bodyOf(endpoints, group, first), because: wrong }];
  return { ...none, update, remove, totals, count };
}

function compare({ endpoints }: EndpointSlice, { wanted }: WantedGroup): Totals {
  let [matches, updated, removed] = [0, 0, 0];
  for (const endpoint of endpoints ?? []) {
    const found = wanted.get(endpointKey(endpoint));
    if (found === undefined) removed++;
    else {
      matches++;
      if (!sameEndpoint(found, endpoint)) updated++;
    }
  }
  return { added: wanted.size - matches, updated, removed };
}

function whatIsWrong(
  { metadata }: Endpoints,
  slice: EndpointSlice,
  { added, updated, removed }: Totals,
): string | undefined {
  if (added !== 0 || updated !== 0 || removed !== 0) {
    return `${added} endpoints come, ${updated} have changed, ${removed} go`;
  }
  const {
    [SERVICE_NAME_LABEL]: _,
    [SLICE_MANAGER_LABEL]: __,
    ...labels
  } = slice.metadata.labels ?? {};
  if (!sameMap(labels, metadata.labels ?? {})) return 'labels are not those of the Endpoints';
  if (!sameMap(slice.metadata.annotations ?? {}, mirroredAnnotations(metadata.annotations))) {
    return 'annotations are not those of the Endpoints';
  }
  const former = (slice.metadata.ownerReferences ?? []).some(
    ({ kind, name, uid }) =>
      kind === ENDPOINTS.kind && name === metadata.name && uid !== metadata.uid,
  );
  return former ? 'it belongs to former Endpoints of this name' : undefined;
}

/** A whole slice; it takes the place of a stored one if that is given. */
function bodyOf(endpoints: Endpoints, group: WantedGroup, stored?: EndpointSlice): SliceBody {
  const { namespace, name, labels, annotations } = endpoints.metadata;
  return {
    ...SLICE_TYPE,
    metadata: {
      ...(stored === undefined ? { generateName: slicePrefix(name) } : identityOf(stored)),
      namespace,
      labels: { ...labels, [SERVICE_NAME_LABEL]: name, [SLICE_MANAGER_LABEL]: MANAGER },
      annotations: mirroredAnnotations(annotations),
      ownerReferences: [controllerReference(endpoints.metadata, ENDPOINTS)],
    },
    addressType: group.family,
    ports: group.ports,
    endpoints: inOrder(group.wanted.values()),
  };
}

function identityOf({ metadata: { name, uid, resourceVersion } }: EndpointSlice): object {
  return { name, uid, resourceVersion };
}

function inOrder(endpoints: Iterable<SliceEndpoint>): SliceEndpoint[] {
  return [...endpoints].sort((a, b) => (endpointKey(a) < endpointKey(b) ? -1 : 1));
}

function mirroredAnnotations(annotations: Labels = {}): Labels {
  const { [TRIGGER_TIME_ANNOTATION]: _, [LAST_APPLIED_ANNOTATION]: __, ...others } = annotations;
  return others;
}

/** New slices take the place of those of their family that would be deleted. */
function recycled(
  create: readonly Update[],
  update: readonly Update[],
  remove: readonly EndpointSlice[],
): SliceWrites {
  const left = [...remove];
  const created: Update[] = [];
  const updated = [...update];
  for (const { body, because } of create) {
    const at = left.findIndex(({ addressType }) => addressType === body.addressType);
    const [slice] = at < 0 ? [] : left.splice(at, 1);
    if (slice === undefined) {
      created.push({ body, because });
      continue;
    }
    const metadata = { ...body.metadata, ...identityOf(slice) };
    updated.push({ body: { ...body, metadata }, because: `${because}, and this one is free` });
  }
  const removals = left.map((slice) => ({
    slice,
    because: `no endpoints of its own at ${portsText(slice.ports ?? [])}`,
  }));
  return { create: created, update: updated, remove: removals };
}

function eventsFor(invalid: number, skipped: number, addressesMax: number): MirrorEvent[] {
  const events: MirrorEvent[] = [];
  if (invalid > 0) {
    const message = `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`;
    events.push({ reason: 'InvalidIPAddress', message });
  }
  if (skipped > invalid) {
    const message =
      `A max of ${addressesMax} addresses can be mirrored to EndpointSlices per Endpoints ` +
      `subset. ${skipped} addresses were skipped`;
    events.push({ reason: 'TooManyAddressesToMirror', message });
  }
  return events;
}
