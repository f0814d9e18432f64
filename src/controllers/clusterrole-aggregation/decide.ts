/** Which rules a ClusterRole has that is made of others. */
import { ruleIdentity } from '../../api/cluster-role.ts';
import type { ClusterRole, PolicyRule } from '../../api/types/index.ts';

/** The rules to apply, and why. */
export interface Application {
  readonly rules: readonly PolicyRule[];
  readonly because: string;
}

/**
 * The rules that the roles give together, each once, in the order they come; undefined if the role
 * has just these. `sources` are those that its selectors match, selector after selector, by name;
 * the role itself among them gives nothing.
 */
export function decide(
  role: ClusterRole,
  sources: readonly ClusterRole[],
): Application | undefined {
  const givers = sources.filter(({ metadata }) => metadata.name !== role.metadata.name);
  const gathered = new Map<string, PolicyRule>();
  for (const rule of givers.flatMap(({ rules }) => rules ?? [])) {
    const identity = ruleIdentity(rule);
    if (!gathered.has(identity)) gathered.set(identity, rule);
  }
  const former = role.rules ?? [];
  const wanted = [...gathered.keys()];
  const same =
    former.length === wanted.length &&
    former.every((rule, at) => ruleIdentity(rule) === wanted[at]);
  if (same) return undefined;
  const has = former.length === wanted.length ? 'other ones' : String(former.length);
  return {
    rules: [...gathered.values()].map(bare),
    because: `${givers.length} matching roles give ${wanted.length} rules, the role has ${has}`,
  };
}

/** A rule without its empty lists, as they are left out of an apply. */
function bare(rule: PolicyRule): PolicyRule {
  const full = Object.entries(rule).filter(([, list]) => (list ?? []).length > 0);
  return Object.fromEntries(full) as unknown as PolicyRule;
}
