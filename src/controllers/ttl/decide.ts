/** How long kubelets may cache Secrets and ConfigMaps, by the size of the cluster. Pure. */
import type { Node } from '../../api/types/index.ts';

/** The annotation that kubelets read, in seconds. */
export const TTL_ANNOTATION = 'node.alpha.kubernetes.io/ttl';

interface Step {
  /** With fewer nodes than this the step before is taken. */
  readonly nodesMin: number;
  /** With more nodes than this the next step is taken. */
  readonly nodesMax: number;
  readonly ttlSeconds: number;
}

const FIRST: Step = { nodesMin: 0, nodesMax: 100, ttlSeconds: 0 };

/** Neighbours overlap, so that a cluster that breathes doesn't rewrite all its nodes each time. */
const STEPS: readonly Step[] = [
  FIRST,
  { nodesMin: 90, nodesMax: 500, ttlSeconds: 15 },
  { nodesMin: 450, nodesMax: 1_000, ttlSeconds: 30 },
  { nodesMin: 900, nodesMax: 2_000, ttlSeconds: 60 },
  { nodesMin: 1_800, nodesMax: Number.POSITIVE_INFINITY, ttlSeconds: 300 },
];

/** How many steps there are; they are counted from 0. */
export const STEP_COUNT = STEPS.length;

/** A node came: the step with `nodes` nodes, at most one above `step`. */
export function stepAfterAdd(step: number, nodes: number): number {
  return nodes > (STEPS[step] ?? FIRST).nodesMax ? step + 1 : step;
}

/** A node went: the step with `nodes` nodes, at most one below `step`. */
export function stepAfterDelete(step: number, nodes: number): number {
  return nodes < (STEPS[step] ?? FIRST).nodesMin ? step - 1 : step;
}

/** A remembered step once nodes may have gone unseen: one that so many nodes allow. */
export function stepAfterRestart(step: number, nodes: number): number {
  let allowed = step;
  while (stepAfterDelete(allowed, nodes) < allowed) allowed--;
  return allowed;
}

/** What a node must be changed to. */
export interface Annotation {
  readonly ttlSeconds: number;
  readonly because: string;
}

const INTEGER = /^[+-]?\d+$/;

/**
 * The annotation a node lacks, undefined if it has it. Any spelling of the number counts ("+15",
 * "015"), as upstream's Atoi reads it; what is no number is replaced.
 */
export function decide(node: Node, step: number): Annotation | undefined {
  const { ttlSeconds, nodesMin, nodesMax } = STEPS[step] ?? FIRST;
  const current = node.metadata.annotations?.[TTL_ANNOTATION];
  const isRight = current !== undefined && INTEGER.test(current) && Number(current) === ttlSeconds;
  if (isRight) return undefined;
  const size = `a cluster of ${nodesMin} to ${nodesMax} nodes`;
  const because = `the annotation is ${current ?? 'absent'}, in ${size} it must be ${ttlSeconds}`;
  return { ttlSeconds, because };
}
