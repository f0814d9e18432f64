/** Revisions compared: their order, and whether one holds a given template. */
import { compareBytes } from '../../../api/go-json.ts';
import { sameMap } from '../../../api/meta.ts';
import { templateWithDefaults } from '../../../api/pod-defaults.ts';
import { templatesEqual } from '../../../api/template.ts';
import { timeMs } from '../../../api/time.ts';
import type { ControllerRevision, PodTemplateSpec } from '../../../api/types/index.ts';
import { restoredTemplate, revisionData } from './data.ts';

/** Anybody may write a number; beyond 2^53 it arrives as BigInt. */
function numberOf({ revision }: ControllerRevision): number {
  return Number(revision);
}

/** Lowest number first; ties by creation, then by name. */
export function byRevision(a: ControllerRevision, b: ControllerRevision): number {
  const created = timeMs(a.metadata.creationTimestamp) - timeMs(b.metadata.creationTimestamp);
  const numbers = numberOf(a) - numberOf(b);
  return numbers || created || compareBytes(a.metadata.name, b.metadata.name);
}

/** Highest number, 0 if there is none. */
export function highestRevision(revisions: readonly ControllerRevision[]): number {
  return revisions.reduce((highest, revision) => Math.max(highest, numberOf(revision)), 0);
}

/** True if the revision holds exactly this data. */
export function holdsData(revision: ControllerRevision, data: string): boolean {
  return revisionData(revision) === data;
}

/** Found to be so before; objects of the caches never change. */
const restoring = new WeakMap<ControllerRevision, PodTemplateSpec>();

/**
 * True if putting the revision back would give the template that is there already, whatever its
 * bytes: what an older release left out or wrote otherwise is no new revision. `template` comes
 * from the API server, its defaults filled in.
 */
export function restoresTemplate(revision: ControllerRevision, template: PodTemplateSpec): boolean {
  if (restoring.get(revision) === template) return true;
  const restored = templateWithDefaults(restoredTemplate(revision, template));
  const sameLabels = sameMap(restored.metadata?.labels ?? {}, template.metadata?.labels ?? {});
  const same = sameLabels && templatesEqual(restored, template);
  if (same) restoring.set(revision, template);
  return same;
}
