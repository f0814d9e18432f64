/** How the CPUs of ready nodes are spread over zones, and which zones each Service's hints name. */
import { quantityNanos } from '../../api/quantity.ts';
import type { Node } from '../../api/types/index.ts';
import { isOverloaded, type ZoneCounts, type ZoneRatios } from './topology.ts';

/** Label of a node: its zone. */
export const ZONE_LABEL = 'topology.kubernetes.io/zone';
const CONTROL_PLANE_LABELS = [
  'node-role.kubernetes.io/control-plane',
  'node-role.kubernetes.io/master',
];
const NANOS_PER_MILLI = 1_000_000n;
/** With fewer zones there is nothing to choose. */
const ZONES_MIN = 2;

interface NodeFacts {
  readonly ready: boolean;
  readonly zone: string;
  /** Allocatable CPU in billionths; 0 if unknown. */
  readonly cpuNanos: bigint;
  /** Part of the control plane: no endpoints are expected there. */
  readonly excluded: boolean;
}

/** The nodes of the cluster as far as hints depend on them. */
export class NodeZones {
  readonly #nodes = new Map<string, NodeFacts>();
  /** Nodes whose stored object was lost when they changed: they have to be fetched first. */
  readonly lost = new Set<string>();
  #ratios: { readonly value: ZoneRatios } | undefined;

  /** Notes a node; true if it is new, or its readiness or zone has changed. */
  put(node: Node): boolean {
    const { name } = node.metadata;
    const before = this.#nodes.get(name);
    const facts = factsOf(node);
    this.#nodes.set(name, facts);
    this.lost.delete(name);
    if (!sameFacts(before, facts)) this.#ratios = undefined;
    return before?.ready !== facts.ready || before.zone !== facts.zone;
  }

  remove(name: string): void {
    this.#nodes.delete(name);
    this.lost.delete(name);
    this.#ratios = undefined;
  }

  /** Undefined if a ready node lacks zone or CPU, or there are fewer than two zones. */
  get ratios(): ZoneRatios {
    this.#ratios ??= { value: this.#compute() };
    return this.#ratios.value;
  }

  #compute(): ZoneRatios {
    const byZone = new Map<string, bigint>();
    let total = 0n;
    for (const { ready, zone, cpuNanos, excluded } of this.#nodes.values()) {
      if (excluded || !ready) continue;
      if (zone === '' || cpuNanos === 0n) return undefined;
      byZone.set(zone, (byZone.get(zone) ?? 0n) + cpuNanos);
      total += cpuNanos;
    }
    if (byZone.size < ZONES_MIN) return undefined;
    const all = millis(total);
    return new Map(Array.from(byZone, ([zone, cpu]) => [zone, millis(cpu) / all]));
  }
}

function factsOf({ metadata: { labels = {} }, status }: Node): NodeFacts {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return {
    ready: ready?.status === 'True',
    zone: labels[ZONE_LABEL] ?? '',
    cpuNanos: quantityNanos(status?.allocatable?.cpu ?? '') ?? 0n,
    excluded: CONTROL_PLANE_LABELS.some((label) => label in labels),
  };
}

function sameFacts(a: NodeFacts | undefined, b: NodeFacts): boolean {
  return (
    a?.ready === b.ready &&
    a.zone === b.zone &&
    a.cpuNanos === b.cpuNanos &&
    a.excluded === b.excluded
  );
}

/** Thousandths, rounded up. */
function millis(nanos: bigint): number {
  return Number((nanos + NANOS_PER_MILLI - 1n) / NANOS_PER_MILLI);
}

/** The hints that Services got by the CPUs of zones, in this process. */
export class HintBook {
  readonly #counts = new Map<string, Map<string, ZoneCounts>>();
  readonly #enabled = new Set<string>();

  set(serviceKey: string, addressType: string, counts: ZoneCounts): void {
    const families = this.#counts.get(serviceKey) ?? new Map<string, ZoneCounts>();
    this.#counts.set(serviceKey, families.set(addressType, counts));
    this.#enabled.add(serviceKey);
  }

  remove(serviceKey: string, addressType: string): void {
    const families = this.#counts.get(serviceKey);
    families?.delete(addressType);
    if (families?.size === 0) this.#counts.delete(serviceKey);
    this.#enabled.delete(serviceKey);
  }

  forget(serviceKey: string): void {
    this.#counts.delete(serviceKey);
    this.#enabled.delete(serviceKey);
  }

  /** True if the last family that was looked at got hints. */
  isEnabled(serviceKey: string): boolean {
    return this.#enabled.has(serviceKey);
  }

  /** Services whose hints overload a zone, now that the nodes are these. */
  overloaded(ratios: ZoneRatios): string[] {
    const all = [...this.#counts].filter(([, families]) =>
      [...families.values()].some((counts) => isOverloaded(counts, ratios)),
    );
    return all.map(([serviceKey]) => serviceKey);
  }
}
