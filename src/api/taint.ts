/** Taints of nodes and the tolerations that pods answer them with. */
import { parseInt64 } from './integer.ts';
import type { Taint, Toleration } from './types/index.ts';

export const TAINT_NOT_READY = 'node.kubernetes.io/not-ready';
export const TAINT_UNREACHABLE = 'node.kubernetes.io/unreachable';
export const TAINT_MEMORY_PRESSURE = 'node.kubernetes.io/memory-pressure';
export const TAINT_DISK_PRESSURE = 'node.kubernetes.io/disk-pressure';
export const TAINT_PID_PRESSURE = 'node.kubernetes.io/pid-pressure';
export const TAINT_UNSCHEDULABLE = 'node.kubernetes.io/unschedulable';
export const TAINT_NETWORK_UNAVAILABLE = 'node.kubernetes.io/network-unavailable';

/** How tolerations are read. */
export interface TolerationRules {
  /** Gate TaintTolerationComparisonOperators: operators Lt and Gt compare numbers. */
  readonly comparison: boolean;
}

const DECIMAL = /^(?:0|-?[1-9]\d*)$/;

function decimal(text: string | undefined): bigint | undefined {
  return text !== undefined && DECIMAL.test(text) ? parseInt64(text) : undefined;
}

/** Lt and Gt: the taint's number against the toleration's; what is no number is not tolerated. */
function compares(toleration: Toleration, taint: Taint): boolean {
  const limit = decimal(toleration.value);
  const value = decimal(taint.value);
  if (limit === undefined || value === undefined) return false;
  return toleration.operator === 'Lt' ? value < limit : value > limit;
}

/** True if this one toleration tolerates the taint: an empty effect or key means all of them. */
export function tolerates(toleration: Toleration, taint: Taint, rules: TolerationRules): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  switch (toleration.operator ?? '') {
    case '':
    case 'Equal':
      return (toleration.value ?? '') === (taint.value ?? '');
    case 'Exists':
      return true;
    case 'Lt':
    case 'Gt':
      return rules.comparison && compares(toleration, taint);
    default:
      return false;
  }
}

/** The first taint with one of these effects that no toleration tolerates. */
export function untoleratedTaint(
  taints: readonly Taint[],
  tolerations: readonly Toleration[],
  effects: readonly string[],
  rules: TolerationRules,
): Taint | undefined {
  return taints.find(
    (taint) =>
      effects.includes(taint.effect) &&
      !tolerations.some((toleration) => tolerates(toleration, taint, rules)),
  );
}

/**
 * For each taint the first toleration that tolerates it; undefined if one is tolerated by none.
 */
export function usedTolerations(
  taints: readonly Taint[],
  tolerations: readonly Toleration[],
  rules: TolerationRules,
): readonly Toleration[] | undefined {
  const used: Toleration[] = [];
  for (const taint of taints) {
    const first = tolerations.find((toleration) => tolerates(toleration, taint, rules));
    if (first === undefined) return undefined;
    used.push(first);
  }
  return used;
}

/** True if two lists of taints say the same, in the same order. */
export function sameTaints(a: readonly Taint[], b: readonly Taint[]): boolean {
  if (a.length !== b.length) return false;
  return a.every((taint, at) => {
    const other = b[at];
    return (
      other !== undefined &&
      taint.key === other.key &&
      taint.effect === other.effect &&
      (taint.value ?? '') === (other.value ?? '') &&
      taint.timeAdded === other.timeAdded
    );
  });
}
