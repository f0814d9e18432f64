/** Which active pods of a Job go, and why. */
import { NO_INDEX } from '../../api/job.ts';
import type { JobPod, Victim } from './actions.ts';

/** What the choice depends on. */
export interface VictimInput {
  readonly active: readonly JobPod[];
  /** Pods to go at least; duplicates and stray indexes of an Indexed Job go in any case. */
  readonly surplus: number;
  /** Completions of an Indexed Job, undefined for any other. */
  readonly completions: number | undefined;
}

/**
 * Pods without a valid index, all but the best one of each index, then as many of the others as are
 * too many, in the order of `compareForRemoval`.
 */
export function chooseVictims({ active, surplus, completions }: VictimInput): readonly Victim[] {
  const { victims, rest } =
    completions === undefined ? { victims: [], rest: active } : sortIndexes(active, completions);
  const missing = surplus - victims.length;
  if (missing <= 0) return victims;
  const ordered = [...rest].sort(compareForRemoval);
  const because = `${surplus} pods too many; first of those that have done least`;
  return [...victims, ...ordered.slice(0, missing).map((pod) => ({ pod, because }))];
}

/** Negative if `a` goes before `b`: it has done less, by upstream's short list of rules. */
export function compareForRemoval(a: JobPod, b: JobPod): number {
  const unassigned = Number(a.nodeName !== '') - Number(b.nodeName !== '');
  if (unassigned !== 0) return unassigned;
  const phase = phaseOrder(a.phase) - phaseOrder(b.phase);
  if (phase !== 0) return phase;
  if (a.ready !== b.ready) return a.ready ? 1 : -1;
  if (a.ready && a.readySince !== b.readySince) return laterFirst(a.readySince, b.readySince);
  const restarts = b.restarts - a.restarts || b.initRestarts - a.initRestarts;
  if (restarts !== 0) return restarts;
  return a.createdAt === b.createdAt ? 0 : laterFirst(a.createdAt, b.createdAt);
}

function phaseOrder(phase: string): number {
  if (phase === 'Running') return 2;
  return phase === 'Unknown' ? 1 : 0;
}

/** A time that is not known counts as the latest. */
function laterFirst(a: number, b: number): number {
  if (a === 0) return -1;
  return b === 0 ? 1 : b - a;
}

function sortIndexes(
  active: readonly JobPod[],
  completions: number,
): { readonly victims: readonly Victim[]; readonly rest: readonly JobPod[] } {
  const victims: Victim[] = [];
  const rest: JobPod[] = [];
  const groups = Map.groupBy(active, (pod) => pod.job.index);
  for (const [index, pods] of [...groups].sort(([a], [b]) => a - b)) {
    const because = strayIndex(index, completions);
    const ordered = because === undefined ? [...pods].sort(compareForRemoval) : pods;
    const best = because === undefined ? ordered.at(-1) : undefined;
    if (best !== undefined) rest.push(best);
    for (const pod of ordered) {
      if (pod === best) continue;
      victims.push({ pod, because: because ?? `${best?.name} has index ${index} as well` });
    }
  }
  return { victims, rest };
}

function strayIndex(index: number, completions: number): string | undefined {
  if (index === NO_INDEX) return 'it has no completion index';
  return index < completions ? undefined : `index ${index} is not below ${completions} completions`;
}
