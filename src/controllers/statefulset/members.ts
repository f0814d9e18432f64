/** The pods of a StatefulSet: names and ordinals, and what their state means to it. */
import { isAvailable } from '../../api/pod.ts';
import type { PodTemplateSpec, StatefulSet } from '../../api/types/index.ts';
import type { PodRecord } from '../../runtime/informer/types.ts';

/** Label with the name of the revision that a pod was made from. */
export const REVISION_LABEL = 'controller-revision-hash';
export const POD_NAME_LABEL = 'statefulset.kubernetes.io/pod-name';
export const POD_INDEX_LABEL = 'apps.kubernetes.io/pod-index';

const MEMBER_NAME = /^(.*)-([0-9]+)$/;
const INT32_MAX = 2 ** 31 - 1;

/** A pod of the set, or the plan of one that is missing. */
export interface Member {
  readonly name: string;
  /** "" for a planned pod. */
  readonly uid: string;
  readonly ordinal: number;
  /** "" for a planned pod. */
  readonly phase: string;
  readonly ready: boolean;
  readonly readySince: number;
  /** Being deleted, or announced to be. */
  readonly deleting: boolean;
  /** Announced to be deleted, and nothing shows yet that the server knows. */
  readonly unanswered?: boolean;
  /** Name of the revision it was made from, "" if it says none. */
  readonly revision: string;
  /** Value of the label with its own name. */
  readonly nameLabel: string;
  /** The cached pod; absent for a planned one. */
  readonly record?: PodRecord;
  /** What a planned pod is made from. */
  readonly template?: PodTemplateSpec;
}

/** The set's part and the number of a pod name; undefined if it has no number at its end. */
export function splitMemberName(
  name: string,
): { readonly set: string; readonly ordinal: number } | undefined {
  const [, set, digits] = MEMBER_NAME.exec(name) ?? [];
  if (set === undefined || digits === undefined) return undefined;
  const ordinal = Number(digits);
  return { set, ordinal: ordinal > INT32_MAX ? -1 : ordinal };
}

/** True if the name is one that pods of this set have. */
export function isMemberName(set: string, name: string): boolean {
  return splitMemberName(name)?.set === set;
}

/** Name of the pod with this ordinal. */
export function memberName(set: string, ordinal: number): string {
  return `${set}-${ordinal}`;
}

/** The cached pod as a member; `going`: its deletion is announced but not seen yet. */
export function memberOf(record: PodRecord, going: boolean): Member {
  const { name, uid, phase, ready, readySince, labels } = record;
  return {
    name,
    uid,
    ordinal: splitMemberName(name)?.ordinal ?? -1,
    phase,
    ready,
    readySince,
    deleting: record.deleting || going,
    unanswered: going && !record.deleting,
    revision: labels[REVISION_LABEL] ?? '',
    nameLabel: labels[POD_NAME_LABEL] ?? '',
    record,
  };
}

/** True if the pod exists; false for a plan. */
export function isCreated({ phase }: Member): boolean {
  return phase !== '';
}

/** Its containers run and its Ready condition is True. */
export function isRunningAndReady({ phase, ready }: Member): boolean {
  return phase === 'Running' && ready;
}

/** Not ready for long enough, or being deleted. `now` in milliseconds. */
export function isUnavailable(member: Member, minReadySeconds: number, now: number): boolean {
  return member.deleting || !isAvailable(member, minReadySeconds, now);
}

/** First ordinal of the set. */
export function startOf({ spec }: StatefulSet): number {
  return spec?.ordinals?.start ?? 0;
}

/** Pods that are wanted. */
export function replicasOf({ spec }: StatefulSet): number {
  return spec?.replicas ?? 1;
}

/** Seconds for which a pod has to be ready to count as available. */
export function minReadySecondsOf({ spec }: StatefulSet): number {
  return spec?.minReadySeconds ?? 0;
}

/** The set's own pod template. */
export function templateOf({ spec }: StatefulSet): PodTemplateSpec {
  return spec?.template ?? {};
}

/** True if the set wants a pod with this ordinal. */
export function isWanted(set: StatefulSet, ordinal: number): boolean {
  const start = startOf(set);
  return ordinal >= start && ordinal < start + replicasOf(set);
}

/** True if pods are created, replaced and deleted one after the other. */
export function isOrdered({ spec }: StatefulSet): boolean {
  return spec?.podManagementPolicy !== 'Parallel';
}
