/** The scale of what an autoscaler scales, of whatever kind that is. */
import { parseApiVersion, type Resource } from '../../api/resource.ts';
import type { HorizontalPodAutoscaler } from '../../api/types/index.ts';
import type { SyncRun } from '../../runtime/controller.ts';
import type { Kinds } from '../_kit/scale/kinds.ts';
import type { Scale, ScaleAt, Scales } from '../_kit/scale/scales.ts';

/** A target, and how it stands. */
export interface Target {
  readonly resource: Resource;
  readonly at: ScaleAt;
  readonly scale: Scale;
}

/** Why an autoscaler can't do its work; the next sync tries again. */
export class AutoscaleProblem extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'AutoscaleProblem';
  }
}

/** What the user wrote can't be understood. */
export class SpecProblem extends AutoscaleProblem {
  constructor(message: string) {
    super(message);
    this.name = 'SpecProblem';
  }
}

/** "Deployment/ns/name", as upstream's messages name the target. */
export function targetName({ metadata, spec }: HorizontalPodAutoscaler): string {
  const { kind, name } = spec?.scaleTargetRef ?? { kind: '', name: '' };
  return `${kind}/${metadata.namespace}/${name}`;
}

/**
 * Reads the scale of the target from the first resource that has one. Throws SpecProblem for an
 * impossible apiVersion, NoKindMatch, and the first error of the server otherwise.
 */
export async function findTarget(
  ports: { readonly kinds: Kinds; readonly scales: Scales },
  run: SyncRun,
  { metadata, spec }: HorizontalPodAutoscaler,
): Promise<Target> {
  const { apiVersion = '', kind, name } = spec?.scaleTargetRef ?? { kind: '', name: '' };
  const parsed = parseApiVersion(apiVersion);
  if ('problem' in parsed) throw new SpecProblem(parsed.problem);
  const resources = await ports.kinds.mappings(parsed.group, kind);
  const at = { namespace: metadata.namespace ?? '', name };
  let first: unknown = new Error('unrecognized resource');
  for (const [index, resource] of resources.entries()) {
    try {
      return { resource, at, scale: await ports.scales.get(run, resource, at) };
    } catch (error) {
      if (index === 0) first = error;
    }
  }
  throw first;
}
