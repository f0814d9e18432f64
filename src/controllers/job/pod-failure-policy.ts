/** spec.podFailurePolicy: what the failure of a pod means for its Job. */
import type { PodFailurePolicy } from '../../api/types/index.ts';

/** What rules look at in a pod. */
export interface FailureFacts {
  /** Containers that ended with a code other than 0, then init containers, in the pod's order. */
  readonly exits: readonly { readonly container: string; readonly code: number }[];
  readonly conditions: readonly { readonly type: string; readonly status: string }[];
  /** Failures of its index before this pod, counted and ignored ones, from its annotations. */
  readonly failureCount: number;
  readonly ignoredCount: number;
}

/** What the first matching rule says. */
export interface FailureVerdict {
  /** It counts towards the limits of the Job. */
  readonly counted: boolean;
  /** The rule's action; undefined if no rule matches. */
  readonly action?: 'Ignore' | 'FailIndex' | 'Count' | 'FailJob';
  /** For FailJob: why the Job has failed. */
  readonly message?: string;
}

type Rule = PodFailurePolicy['rules'][number];
type OnExitCodes = NonNullable<Rule['onExitCodes']>;
type OnPodConditions = NonNullable<Rule['onPodConditions']>;

const NO_MATCH: FailureVerdict = Object.freeze({ counted: true });

/** Judges a pod; `podKey` is its namespace and name. Without a policy every failure counts. */
export function judgeFailure(
  policy: PodFailurePolicy | undefined,
  podKey: string,
  facts: FailureFacts | undefined,
): FailureVerdict {
  if (policy === undefined || facts === undefined) return NO_MATCH;
  for (const [index, rule] of policy.rules.entries()) {
    const found = findMatch(rule, podKey, facts);
    if (found === undefined) continue;
    switch (rule.action) {
      case 'Ignore':
        return { counted: false, action: 'Ignore' };
      case 'FailIndex':
      case 'Count':
        return { counted: true, action: rule.action };
      case 'FailJob':
        return {
          counted: true,
          action: 'FailJob',
          message: `${found} matching FailJob rule at index ${index}`,
        };
    }
  }
  return NO_MATCH;
}

/** What a rule finds in a pod, in words; undefined if it finds nothing. */
function findMatch(rule: Rule, podKey: string, facts: FailureFacts): string | undefined {
  if (rule.onExitCodes !== undefined) return findExit(rule.onExitCodes, podKey, facts);
  if (rule.onPodConditions != null) return findCondition(rule.onPodConditions, podKey, facts);
  return undefined;
}

function findExit(
  { containerName, operator, values }: OnExitCodes,
  podKey: string,
  { exits }: FailureFacts,
): string | undefined {
  const found = exits.find(({ container, code }) => {
    if (containerName !== undefined && containerName !== container) return false;
    const listed = values.includes(code);
    return (operator === 'In' && listed) || (operator === 'NotIn' && !listed);
  });
  if (found === undefined) return undefined;
  return `Container ${found.container} for pod ${podKey} failed with exit code ${found.code}`;
}

function findCondition(
  patterns: OnPodConditions,
  podKey: string,
  { conditions }: FailureFacts,
): string | undefined {
  const found = conditions.find((condition) =>
    patterns.some(
      ({ type, status = 'True' }) => type === condition.type && status === condition.status,
    ),
  );
  return found === undefined ? undefined : `Pod ${podKey} has condition ${found.type}`;
}
