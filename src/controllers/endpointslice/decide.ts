/**
 * What the slices of a Service must look like in one family of addresses. Follows upstream's
 * reconcileByAddressType; slices of other families are none of its business.
 */
import type { IpFamily } from '../../api/ip.ts';
import { sameMap } from '../../api/meta.ts';
import type { EndpointSlice, Service } from '../../api/types/index.ts';
import type { PodRecord } from '../../runtime/informer/types.ts';
import type { GroupCount } from '../_kit/slices/gauges.ts';
import { portsKey, portsText } from '../_kit/slices/ports.ts';
import type { SliceWrites } from '../_kit/slices/write.ts';
import { bodyOf, type Draft, newDraft, reasonOf } from './draft.ts';
import {
  asksForTopology,
  distributionOf,
  type SliceSet,
  withCloseHints,
  withoutHints,
} from './hints.ts';
import { labelsFor } from './labels.ts';
import { pack } from './pack.ts';
import { withTopologyHints, type ZoneCounts, type ZoneRatios } from './topology.ts';
import { wantedEndpoints } from './wanted.ts';

/** What a decision looks at. */
export interface Observed {
  readonly service: Service;
  readonly family: IpFamily;
  /** Those that the Service selects. */
  readonly pods: readonly PodRecord[];
  /** Those of this Service, this family and this controller that aren't being deleted, by name. */
  readonly slices: readonly EndpointSlice[];
  /** Zone of each node with a pod, "" if it has none; a node that is missing doesn't exist. */
  readonly zones: ReadonlyMap<string, string>;
  readonly ratios: ZoneRatios;
  /** The Service got hints by the CPUs of zones before. */
  readonly hintsEnabled: boolean;
  /** When what is new happened; undefined: nothing that readiness or creation tells of. */
  readonly triggerTime: string | undefined;
}

/** Flags and gates. */
export interface SliceConfig {
  readonly endpointsMax: number;
  /** Gate PreferSameTrafficDistribution. */
  readonly preferSame: boolean;
}

/** An event about the Service. */
export interface HintEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: 'TopologyAwareHintsEnabled' | 'TopologyAwareHintsDisabled';
  readonly message: string;
}

export interface FamilyDecision {
  readonly writes: SliceWrites;
  /** Pods that were left out; the sync must be tried again. */
  readonly problems: readonly string[];
  readonly events: readonly HintEvent[];
  /** Hints by zone, to be remembered; undefined: none by the CPUs of zones. */
  readonly hintCounts: ZoneCounts | undefined;
  readonly added: number;
  readonly removed: number;
  readonly groups: readonly GroupCount[];
}

/** Decides one family; the caller carries the writes out. */
export function decide(observed: Observed, config: SliceConfig): FamilyDecision {
  const { service, family, slices } = observed;
  const { create, update, ...packed } = packGroups(observed, config);
  const remove = new Set(packed.remove);
  const groups = [...packed.groups];
  if (remove.size === slices.length && create.length === 0) {
    groups.push({ endpoints: 0, slices: 1 });
    const [only] = remove.size === 1 ? remove : [];
    if (only !== undefined && isEmptyOf(only, service)) remove.clear();
    else create.push(newDraft(family, []));
  }
  const written = new Set(update.map(({ stored }) => stored));
  const unchanged = slices.filter((slice) => !written.has(slice) && !remove.has(slice));
  const { set, events, hintCounts } = hint(observed, config, { create, update, unchanged });
  const writes = writesFor(observed, set, remove);
  const { problems, added, removed } = packed;
  return { writes, problems, events, hintCounts, added, removed, groups };
}

interface Packed {
  readonly create: Draft[];
  readonly update: Draft[];
  readonly remove: readonly EndpointSlice[];
  readonly problems: readonly string[];
  readonly added: number;
  readonly removed: number;
  readonly groups: readonly GroupCount[];
}

/** Every set of ports for itself; slices of other owners, and of ports nobody has any more, go. */
function packGroups(observed: Observed, { endpointsMax }: SliceConfig): Packed {
  const { service, family, pods, slices, zones } = observed;
  const wanted = wantedEndpoints(service, pods, family, zones);
  const owned = Map.groupBy(slices, (slice) => isOwned(slice, service));
  const byPorts = Map.groupBy(owned.get(true) ?? [], ({ ports }) => portsKey(ports));
  const packings = wanted.groups.map((group) => {
    const stored = byPorts.get(group.key) ?? [];
    byPorts.delete(group.key);
    const packing = pack(service, stored, { ...group, addressType: family }, endpointsMax);
    const left = stored.length + packing.create.length - packing.remove.length;
    return { ...packing, count: { endpoints: group.wanted.size, slices: left } };
  });
  const foreign = owned.get(false) ?? [];
  const former = [...byPorts.values()].flat();
  return {
    create: packings.flatMap(({ create }) => create),
    update: packings.flatMap(({ update }) => update),
    remove: [...foreign, ...packings.flatMap(({ remove }) => remove), ...former],
    problems: wanted.problems,
    added: packings.reduce((sum, { added }) => sum + added, 0),
    removed: packings.reduce((sum, { removed }) => sum + removed, 0),
    groups: packings.map(({ count }) => count),
  };
}

interface Hinting {
  readonly set: SliceSet;
  readonly events: readonly HintEvent[];
  readonly hintCounts?: ZoneCounts;
}

function hint(observed: Observed, config: SliceConfig, set: SliceSet): Hinting {
  const { service, family, hintsEnabled } = observed;
  if (asksForTopology(service)) {
    const { problem, counts, ...hints } = withTopologyHints(set, observed.ratios);
    if (problem !== undefined) return { ...hints, events: [disabled(problem, family)] };
    const events = hintsEnabled ? [] : [enabled(family)];
    return counts === undefined ? { ...hints, events } : { ...hints, events, hintCounts: counts };
  }
  const events = hintsEnabled ? [disabled('Topology Aware Hints has been disabled', family)] : [];
  const distribution = distributionOf(service, config.preferSame);
  if (distribution === undefined) return { set: withoutHints(set), events };
  return { set: withCloseHints(set, distribution), events };
}

function enabled(family: IpFamily): HintEvent {
  const message = `Topology Aware Hints has been enabled, addressType: ${family}`;
  return { type: 'Normal', reason: 'TopologyAwareHintsEnabled', message };
}

function disabled(why: string, family: IpFamily): HintEvent {
  const message = `${why}, addressType: ${family}`;
  return { type: 'Warning', reason: 'TopologyAwareHintsDisabled', message };
}

/** New slices take the place of owned ones that would be deleted: one write instead of two. */
function writesFor(
  { service, triggerTime }: Observed,
  { create, update }: SliceSet,
  remove: Iterable<EndpointSlice>,
): SliceWrites {
  const fresh = [...create];
  const updates = update.map((draft) => ({
    body: bodyOf(draft, service, triggerTime),
    because: reasonOf(draft),
  }));
  const removals: { slice: EndpointSlice; because: string }[] = [];
  for (const slice of remove) {
    const owned = isOwned(slice, service);
    const draft = owned ? fresh.pop() : undefined;
    const because = whyNotWanted(slice, owned);
    if (draft === undefined) removals.push({ slice, because });
    else {
      const body = bodyOf(draft, service, triggerTime, slice);
      updates.push({ body, because: `${because}: ${reasonOf(draft)}` });
    }
  }
  const creates = fresh.map((draft) => ({
    body: bodyOf(draft, service, triggerTime),
    because: reasonOf(draft),
  }));
  return { create: creates, update: updates, remove: removals };
}

function whyNotWanted({ ports, metadata }: EndpointSlice, owned: boolean): string {
  if (!owned) return `slice ${metadata.name} belongs to another Service`;
  return `slice ${metadata.name} has no endpoints left at ${portsText(ports ?? [])}`;
}

function isOwned({ metadata }: EndpointSlice, service: Service): boolean {
  return (metadata.ownerReferences ?? []).some(
    ({ uid, kind, apiVersion }) =>
      uid === service.metadata.uid && kind === 'Service' && apiVersion === 'v1',
  );
}

/** True for the slice that stands for "no endpoints", if it is as it should be. */
function isEmptyOf(slice: EndpointSlice, service: Service): boolean {
  return (
    isOwned(slice, service) &&
    (slice.ports ?? []).length === 0 &&
    (slice.endpoints ?? []).length === 0 &&
    sameMap(slice.metadata.labels ?? {}, labelsFor(service))
  );
}
