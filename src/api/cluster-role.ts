/** ClusterRoles: what their informer holds, and when two rules are the same. */
import { type RecordFields, recordFields } from './record.ts';
import type { ClusterRole, PolicyRule } from './types/index.ts';

/** What the ClusterRole informer holds. */
export interface ClusterRoleRecordFields extends RecordFields {
  /** Its rules are gathered from other roles. */
  readonly aggregated: boolean;
}

/** The record of a whole ClusterRole. */
export function clusterRoleRecordFields(role: ClusterRole): ClusterRoleRecordFields {
  return { ...recordFields(role), aggregated: (role.aggregationRule ?? undefined) !== undefined };
}

/**
 * A text that is equal for two rules just if upstream takes them as equal: the same lists in the
 * same order, an absent list being an empty one.
 */
export function ruleIdentity(rule: PolicyRule): string {
  const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule;
  const lists = [verbs, apiGroups, resources, resourceNames, nonResourceURLs];
  return JSON.stringify(lists.map((list) => list ?? []));
}
