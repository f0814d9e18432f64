/** The numbers of a DaemonSet's update strategy. */
import { type IntOrPercent, scaledValue } from '../../api/int-or-percent.ts';
import type { DaemonSet } from '../../api/types/index.ts';
import { StepError } from '../_kit/steps.ts';

const MAX_UNAVAILABLE_DEFAULT = 1;

/** True unless pods are only replaced when somebody deletes them. */
export function isRolling({ spec }: DaemonSet): boolean {
  return (spec?.updateStrategy?.type ?? 'RollingUpdate') === 'RollingUpdate';
}

function scaled(set: DaemonSet, field: string, value: IntOrPercent, total: number): number {
  const found = scaledValue(value, total, 'up');
  if (found !== undefined) return found;
  throw new StepError(
    `spec.updateStrategy.rollingUpdate.${field} of ${set.metadata.name} is "${value}": ` +
      'must be a number or "N%"',
  );
}

/** Nodes that may have a second pod during an update; percentages are rounded up. */
export function maxSurgeOf(set: DaemonSet, nodes: number): number {
  const value = set.spec?.updateStrategy?.rollingUpdate?.maxSurge;
  return isRolling(set) && value !== undefined ? scaled(set, 'maxSurge', value, nodes) : 0;
}

/** Nodes that may be without an available pod during an update; percentages are rounded up. */
export function maxUnavailableOf(set: DaemonSet, nodes: number): number {
  const rolling = set.spec?.updateStrategy?.rollingUpdate;
  if (!isRolling(set) || rolling === undefined) return 0;
  const { maxUnavailable = MAX_UNAVAILABLE_DEFAULT } = rolling;
  return scaled(set, 'maxUnavailable', maxUnavailable, nodes);
}

/** True if a node may have an old pod and a new one. A value that can't be read allows nothing. */
export function allowsSurge(set: DaemonSet): boolean {
  const value = set.spec?.updateStrategy?.rollingUpdate?.maxSurge;
  return isRolling(set) && value !== undefined && (scaledValue(value, 1, 'up') ?? 0) > 0;
}

/** Surge and unavailability over so many nodes; both 0 would never move, so 1 is unavailable. */
export function limitsOf(
  set: DaemonSet,
  nodes: number,
): { readonly maxSurge: number; readonly maxUnavailable: number } {
  const maxUnavailable = maxUnavailableOf(set, nodes);
  const maxSurge = maxSurgeOf(set, nodes);
  const stuck = nodes > 0 && maxUnavailable === 0 && maxSurge === 0;
  return { maxSurge, maxUnavailable: stuck ? 1 : maxUnavailable };
}
