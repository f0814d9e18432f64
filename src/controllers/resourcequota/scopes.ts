/** Which objects a quota is about: its scopes, all of which must hold. */
import { compileSelector } from '../../api/selector.ts';
import type { ResourceQuota, ScopeRequirement } from '../../api/types/index.ts';
import type { ScopeFacts } from './charge.ts';

/** The requirements of a quota, those of `scopes` as "exists". */
export function requirementsOf({ spec }: ResourceQuota): readonly ScopeRequirement[] {
  const named = (spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' }));
  return [...named, ...(spec?.scopeSelector?.matchExpressions ?? [])];
}

/** True if the quota counts an object with these facts; a scope it does not know never holds. */
export function inScope(requirements: readonly ScopeRequirement[], facts: ScopeFacts): boolean {
  return requirements.every((requirement) => holds(requirement, facts));
}

function holds(requirement: ScopeRequirement, { pod, ...rest }: ScopeFacts): boolean {
  const { scopeName } = requirement;
  if (scopeName === 'VolumeAttributesClass') {
    const classes = rest.volumeAttributesClasses;
    return classes !== undefined && matchesAny(requirement, classes);
  }
  if (pod === undefined) return false;
  switch (scopeName) {
    case 'Terminating':
      return pod.terminating;
    case 'NotTerminating':
      return !pod.terminating;
    case 'BestEffort':
      return pod.bestEffort;
    case 'NotBestEffort':
      return !pod.bestEffort;
    case 'CrossNamespacePodAffinity':
      return pod.crossNamespaceAffinity;
    case 'PriorityClass':
      return matchesAny(requirement, pod.priorityClass === '' ? [] : [pod.priorityClass]);
    default:
      return false;
  }
}

/** One of the values satisfies the requirement as a label would; without any, none by name. */
function matchesAny(requirement: ScopeRequirement, values: readonly string[]): boolean {
  const { scopeName: key, operator } = requirement;
  if (operator === 'Exists') return values.length > 0;
  const expression = { key, operator, values: [...(requirement.values ?? [])] };
  const { selector } = compileSelector({ matchExpressions: [expression] });
  if (selector === undefined) return false;
  if (values.length === 0) return selector.matches({});
  return values.some((value) => selector.matches({ [key]: value }));
}
