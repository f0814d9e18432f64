/** What a file of the writer must look like, given the version it says it has reached. */
import type { StorePort } from '../../src/runtime/ports.ts';

export const RESOURCE = 'pods';
export const KEYS = 50;

/** Everything in the store that is not of the moment of its resume point. */
export function notOfOneMoment({ objects, work }: StorePort): string[] {
  const point = Number(objects.resumePoint(RESOURCE)?.resourceVersion ?? 0);
  const wrong: string[] = [];
  const found = new Map(
    [...objects.heads(RESOURCE)].map((head) => [head.key, Number(head.resourceVersion)]),
  );
  for (let slot = 0; slot < KEYS; slot++) {
    const newest = point - ((point - slot + KEYS) % KEYS);
    const wanted = newest > 0 ? newest : undefined;
    const row = found.get(`default/p${slot}`);
    if (row !== wanted) wrong.push(`p${slot} is ${row}, the point ${point} wants ${wanted}`);
  }
  const ahead = work.all().filter(({ failures }) => failures > point);
  return [...wrong, ...ahead.map(({ key }) => `work of ${key} is ahead of ${point}`)];
}
