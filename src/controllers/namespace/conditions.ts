/** The five conditions that tell why a namespace is not gone yet. */
import { timeText } from '../../api/time.ts';
import type { NamespaceCondition } from '../../api/types/index.ts';

/** What a pass over a namespace found. */
export interface Findings {
  /** Discovery failed, or left something out. */
  readonly discovery?: string;
  /** One text for each kind that could not be deleted. */
  readonly deletion: readonly string[];
  /** "pods." or "widgets.example.com" to the number of objects left. */
  readonly remaining: ReadonlyMap<string, number>;
  /** Finalizer to the number of objects that wait for it. */
  readonly finalizers: ReadonlyMap<string, number>;
}

interface Told {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

/** How the conditions read when all is well; in the order in which they are added. */
const WELL: readonly Told[] = [
  {
    type: 'NamespaceDeletionDiscoveryFailure',
    reason: 'ResourcesDiscovered',
    message: 'All resources successfully discovered',
  },
  // Discovery comes parsed here, so this one is always well.
  {
    type: 'NamespaceDeletionGroupVersionParsingFailure',
    reason: 'ParsedGroupVersions',
    message: 'All legacy kube types successfully parsed',
  },
  {
    type: 'NamespaceDeletionContentFailure',
    reason: 'ContentDeleted',
    message: 'All content successfully deleted, may be waiting on finalization',
  },
  {
    type: 'NamespaceContentRemaining',
    reason: 'ContentRemoved',
    message: 'All content successfully removed',
  },
  {
    type: 'NamespaceFinalizersRemaining',
    reason: 'ContentHasNoFinalizers',
    message: 'All content-preserving finalizers finished',
  },
];

function counted(counts: ReadonlyMap<string, number>, link: string): string {
  return [...counts]
    .map(([name, count]) => `${name} ${link} ${count} resource instances`)
    .sort()
    .join(', ');
}

function troubles({ discovery, deletion, remaining, finalizers }: Findings): readonly Told[] {
  const told: Told[] = [];
  const add = (type: string, reason: string, message: string) =>
    told.push({ type, reason, message });
  if (discovery !== undefined) {
    add('NamespaceDeletionDiscoveryFailure', 'DiscoveryFailed', discovery);
  }
  if (deletion.length > 0) {
    const texts = [...deletion].sort().join(', ');
    const message = `Failed to delete all resource types, ${deletion.length} remaining: ${texts}`;
    add('NamespaceDeletionContentFailure', 'ContentDeletionFailed', message);
  }
  if (remaining.size > 0) {
    const message = `Some resources are remaining: ${counted(remaining, 'has')}`;
    add('NamespaceContentRemaining', 'SomeResourcesRemain', message);
  }
  if (finalizers.size > 0) {
    const texts = counted(finalizers, 'in');
    const message = `Some content in the namespace has finalizers remaining: ${texts}`;
    add('NamespaceFinalizersRemaining', 'SomeFinalizersRemain', message);
  }
  return told;
}

/**
 * The conditions after a pass, or undefined if nothing changes. Each keeps its place in the list;
 * lastTransitionTime moves only with the status. `now` in milliseconds.
 */
export function nextConditions(
  current: readonly NamespaceCondition[],
  findings: Findings,
  now: number,
): readonly NamespaceCondition[] | undefined {
  const trouble = new Map(troubles(findings).map((told) => [told.type, told]));
  const next = [...current];
  let changed = false;
  for (const well of WELL) {
    const told = trouble.get(well.type);
    const status = told === undefined ? 'False' : 'True';
    const { type, reason, message } = told ?? well;
    const at = next.findIndex((condition) => condition.type === type);
    const before = next[at];
    if (before?.status === status && before.reason === reason && before.message === message) {
      continue;
    }
    changed = true;
    const since = before?.status === status ? before.lastTransitionTime : timeText(now);
    const condition = { ...before, type, status, reason, message, lastTransitionTime: since };
    if (before === undefined) next.push(condition);
    else next[at] = condition;
  }
  return changed ? next : undefined;
}
