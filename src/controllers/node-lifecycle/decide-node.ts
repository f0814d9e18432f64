/** Taints and labels that follow from a node's conditions. Pure. */
import type { StringMap } from '../../api/meta.ts';
import {
  TAINT_DISK_PRESSURE,
  TAINT_MEMORY_PRESSURE,
  TAINT_NETWORK_UNAVAILABLE,
  TAINT_NOT_READY,
  TAINT_PID_PRESSURE,
  TAINT_UNREACHABLE,
  TAINT_UNSCHEDULABLE,
} from '../../api/taint.ts';
import type { Node, Taint } from '../../api/types/index.ts';

/** A taint as it is told from others: by key and effect. */
export type TaintKey = Pick<Taint, 'key' | 'effect'>;

export interface TaintChange {
  readonly add: readonly TaintKey[];
  readonly remove: readonly TaintKey[];
}

const NO_SCHEDULE = 'NoSchedule';
const NO_EXECUTE = 'NoExecute';

const TAINT_OF: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: TAINT_NOT_READY, Unknown: TAINT_UNREACHABLE },
  MemoryPressure: { True: TAINT_MEMORY_PRESSURE },
  DiskPressure: { True: TAINT_DISK_PRESSURE },
  NetworkUnavailable: { True: TAINT_NETWORK_UNAVAILABLE },
  PIDPressure: { True: TAINT_PID_PRESSURE },
};
const OWN_KEYS: ReadonlySet<string> = new Set([
  ...Object.values(TAINT_OF).flatMap((byStatus) => Object.values(byStatus)),
  TAINT_UNSCHEDULABLE,
]);

/** The NoExecute taint of a node that says it isn't ready. */
export const NOT_READY: TaintKey = { key: TAINT_NOT_READY, effect: NO_EXECUTE };
/** The NoExecute taint of a node that nothing is heard of. */
export const UNREACHABLE: TaintKey = { key: TAINT_UNREACHABLE, effect: NO_EXECUTE };

/** True if a taint of this key and effect is among them. */
export function hasTaint(taints: readonly TaintKey[], { key, effect }: TaintKey): boolean {
  return taints.some((taint) => taint.key === key && taint.effect === effect);
}

/** Which NoSchedule taints mirror the conditions and are missing, and which of them are too many. */
export function noScheduleChange({ spec, status }: Node): TaintChange {
  const wanted: TaintKey[] = [];
  for (const { type, status: value } of status?.conditions ?? []) {
    const key = TAINT_OF[type]?.[value];
    if (key !== undefined) wanted.push({ key, effect: NO_SCHEDULE });
  }
  if (spec?.unschedulable) wanted.push({ key: TAINT_UNSCHEDULABLE, effect: NO_SCHEDULE });
  const present = (spec?.taints ?? []).filter(
    ({ key, effect }) => effect === NO_SCHEDULE && OWN_KEYS.has(key),
  );
  return {
    add: wanted.filter((taint) => !hasTaint(present, taint)),
    remove: present.filter((taint) => !hasTaint(wanted, taint)),
  };
}

/** The NoExecute taint for a status of Ready, and the one it excludes; undefined if it is True. */
export function noExecuteChange(ready: string): TaintChange | undefined {
  if (ready === 'False') return { add: [NOT_READY], remove: [UNREACHABLE] };
  if (ready === 'Unknown') return { add: [UNREACHABLE], remove: [NOT_READY] };
  return undefined;
}

/**
 * The taints after a change: what is added is timed anew in its place, or comes last. Undefined if
 * nothing changes.
 */
export function changedTaints(
  taints: readonly Taint[],
  { add, remove }: TaintChange,
  timeAdded: string,
): readonly Taint[] | undefined {
  const isAdded = (taint: TaintKey): boolean => hasTaint(add, taint);
  const isRemoved = (taint: TaintKey): boolean => hasTaint(remove, taint);
  if (add.length === 0 && !taints.some(isRemoved)) return undefined;
  const kept = taints
    .filter((taint) => !isRemoved(taint))
    .map(({ key, effect, ...rest }) =>
      isAdded({ key, effect }) ? { key, effect, timeAdded } : { key, effect, ...rest },
    );
  const fresh = add.filter((taint) => !hasTaint(taints, taint));
  return [...kept, ...fresh.map((taint) => ({ ...taint, timeAdded }))];
}

/** Older labels that must say the same as newer ones. */
const SAME_LABELS = [
  ['kubernetes.io/os', 'beta.kubernetes.io/os'],
  ['kubernetes.io/arch', 'beta.kubernetes.io/arch'],
] as const;

/** Labels to set; none if all are right. */
export function labelChange(labels: StringMap): StringMap {
  const changes: Record<string, string> = {};
  for (const [stable, beta] of SAME_LABELS) {
    const value = labels[stable];
    if (value !== undefined && labels[beta] !== value) changes[beta] = value;
  }
  return changes;
}
