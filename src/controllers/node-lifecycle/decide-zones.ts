/** How disrupted zones are, and how fast their nodes may be tainted then. Pure. */

/** `new`: not judged yet. `full`: no node is ready. `partial`: too many are not. */
export type ZoneState = 'new' | 'normal' | 'partial' | 'full';

/** A zone as one look found it. */
export interface ZoneCount {
  readonly size: number;
  readonly unhealthy: number;
  readonly state: ZoneState;
}

/** Fewer unhealthy nodes than this disrupt no zone partially. */
const UNHEALTHY_MIN = 3;

/** Judges a zone by its nodes' Ready conditions (undefined: none); `threshold` is a fraction. */
export function countZone(statuses: readonly (string | undefined)[], threshold: number): ZoneCount {
  const size = statuses.length;
  const unhealthy = statuses.filter((status) => status !== 'True').length;
  const fraction = Math.fround(unhealthy / size);
  const isPartial = unhealthy >= UNHEALTHY_MIN && fraction >= Math.fround(threshold);
  if (unhealthy > 0 && unhealthy === size) return { size, unhealthy, state: 'full' };
  return { size, unhealthy, state: isPartial ? 'partial' : 'normal' };
}

/** Flags that say how fast. */
export interface Rates {
  /** Nodes per second. */
  readonly usual: number;
  readonly secondary: number;
  /** Zones up to this size are not evicted from at all while partially disrupted. */
  readonly largeZone: number;
}

/** Nodes per second that may be tainted in a zone. */
export function rateOf({ state, size }: Pick<ZoneCount, 'state' | 'size'>, rates: Rates): number {
  if (state !== 'partial') return rates.usual;
  return size > rates.largeZone ? rates.secondary : 0;
}

export interface Disruption {
  /**
   * `begins`: nothing is ready anywhere, all evictions stop. `ends`: something is again, after
   * that. `zones`: each zone by itself.
   */
  readonly kind: 'begins' | 'ends' | 'zones';
  /** Zones whose state changes, and to what. */
  readonly changes: ReadonlyMap<string, ZoneState>;
}

/** Compares the zones as they were with what one look found of them. */
export function decideDisruption(
  before: ReadonlyMap<string, ZoneState>,
  found: ReadonlyMap<string, Pick<ZoneCount, 'state'>>,
): Disruption {
  const wasFull = [...found.keys()].every((zone) => before.get(zone) === 'full');
  const isFull = [...found.values()].every(({ state }) => state === 'full');
  const changes = new Map<string, ZoneState>();
  for (const [zone, { state }] of found) {
    const next = isFull && !wasFull ? 'full' : state;
    if (before.get(zone) !== next) changes.set(zone, next);
  }
  if (isFull && !wasFull) return { kind: 'begins', changes };
  return { kind: wasFull && !isFull ? 'ends' : 'zones', changes };
}
