/** Conditions of ReplicaSets, ReplicationControllers and Deployments: read, set, remove. */

/** What the rules look at in a condition of any of these kinds. */
export interface ConditionLike {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly lastTransitionTime?: string;
}

/** The condition of this type, or undefined. */
export function findCondition<C extends ConditionLike>(
  conditions: readonly C[] | undefined,
  type: string,
): C | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** The list without conditions of this type; the same list if there is none. */
export function removeCondition<C extends ConditionLike>(
  conditions: readonly C[],
  type: string,
): readonly C[] {
  const rest = conditions.filter((condition) => condition.type !== type);
  return rest.length === conditions.length ? conditions : rest;
}

/**
 * Puts a condition at the end in place of one of its type, with its own transition time: the rule
 * of ReplicaSets and ReplicationControllers. The same list if status and reason are as they were.
 */
export function replaceCondition<C extends ConditionLike>(
  conditions: readonly C[],
  condition: C,
): readonly C[] {
  const current = findCondition(conditions, condition.type);
  if (current?.status === condition.status && current.reason === condition.reason) {
    return conditions;
  }
  return [...removeCondition(conditions, condition.type), condition];
}

/**
 * As `replaceCondition`, but the transition time is kept while the status stays: the rule of
 * Deployments.
 */
export function setCondition<C extends ConditionLike>(
  conditions: readonly C[],
  condition: C,
): readonly C[] {
  const current = findCondition(conditions, condition.type);
  if (current?.status !== condition.status) return replaceCondition(conditions, condition);
  return replaceCondition(conditions, {
    ...condition,
    lastTransitionTime: current.lastTransitionTime,
  });
}
