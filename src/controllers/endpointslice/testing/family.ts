/** One family of a Service as a decision sees it, and what its writes make of the stored slices. */
import type { EndpointSlice, ObjectMeta, SliceEndpoint } from '../../../api/types/index.ts';
import type { PodRecord } from '../../../runtime/informer/types.ts';
import { service } from '../../_kit/slices/testing/build.ts';
import type { SliceBody } from '../../_kit/slices/write.ts';
import { decide, type FamilyDecision, type Observed, type SliceConfig } from '../decide.ts';

export const CONFIG: SliceConfig = { endpointsMax: 100, preferSame: true };

/** Service default/web in IPv4, its pods all on node-1 in zone a, changed by what a test gives. */
export function observed(facts: Partial<Observed> = {}): Observed {
  return {
    service: service(),
    family: 'IPv4',
    pods: [],
    slices: [],
    zones: new Map([['node-1', 'zone-a']]),
    ratios: undefined,
    hintsEnabled: false,
    triggerTime: undefined,
    ...facts,
  };
}

export interface Outcome {
  readonly slices: readonly EndpointSlice[];
  /** "create 3", "update web-a 2", "delete web-b": verb, name and number of endpoints. */
  readonly writes: readonly string[];
  readonly decision: FamilyDecision;
}

/** Decides and carries the writes out, as the server would. */
export function sync(facts: Partial<Observed>, config: SliceConfig = CONFIG): Outcome {
  const all = observed(facts);
  const decision = decide(all, config);
  const left = new Map(all.slices.map((slice) => [slice.metadata.name, slice]));
  const writes: string[] = [];
  for (const { slice } of decision.writes.remove) {
    left.delete(slice.metadata.name);
    writes.push(`delete ${slice.metadata.name}`);
  }
  for (const { body } of decision.writes.update) {
    const { name = '' } = body.metadata;
    left.set(name, asStored(body, name));
    writes.push(`update ${name} ${(body.endpoints ?? []).length}`);
  }
  for (const { body } of decision.writes.create) {
    const name = freeName(body.metadata.generateName ?? '', left);
    left.set(name, asStored(body, name));
    writes.push(`create ${(body.endpoints ?? []).length}`);
  }
  return { slices: inOrder(left.values()), writes: writes.sort(), decision };
}

/** Stored slices as an earlier sync of these pods makes them. */
export function slicesOf(facts: Partial<Observed>, config: SliceConfig = CONFIG): EndpointSlice[] {
  return [...sync(facts, config).slices];
}

/** One stored slice with the endpoints of these pods. */
export function sliceOf(
  name: string,
  pods: readonly PodRecord[],
  facts: Partial<Observed> = {},
): EndpointSlice {
  const [slice] = slicesOf({ ...facts, pods, slices: [] }, { ...CONFIG, endpointsMax: 1000 });
  if (slice === undefined) throw new Error('a sync leaves at least one slice');
  return { ...slice, metadata: { ...slice.metadata, name, uid: `uid-${name}` } };
}

/** The slice with other metadata. */
export function withMeta(slice: EndpointSlice, meta: Partial<ObjectMeta>): EndpointSlice {
  return { ...slice, metadata: { ...slice.metadata, ...meta } };
}

/** Numbers of endpoints, the largest first. */
export function lengths(slices: readonly EndpointSlice[]): number[] {
  return slices.map(({ endpoints }) => (endpoints ?? []).length).sort((a, b) => b - a);
}

/** All endpoints of these slices. */
export function endpointsOf(slices: readonly EndpointSlice[]): SliceEndpoint[] {
  return slices.flatMap(({ endpoints }) => endpoints ?? []);
}

function asStored(body: SliceBody, name: string): EndpointSlice {
  const { uid = `uid-${name}`, resourceVersion = '1' } = body.metadata;
  return { ...body, metadata: { ...body.metadata, name, uid, resourceVersion } };
}

function freeName(prefix: string, taken: ReadonlyMap<string, unknown>): string {
  let number = taken.size + 1;
  while (taken.has(`${prefix}${number}`)) number++;
  return `${prefix}${number}`;
}

function inOrder(slices: Iterable<EndpointSlice>): EndpointSlice[] {
  return [...slices].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}
