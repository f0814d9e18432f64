/** Whether a manager has touched what another one left. */
import type { World } from '../scenarios/world.ts';

/**
 * Name, UID and version of every object of these resources, sorted; alike before and after means
 * that nothing was written. `isExempt` leaves out, by name, what a test makes for itself.
 */
export async function versionsOf(
  world: World,
  plurals: readonly string[],
  isExempt: (name: string) => boolean = () => false,
): Promise<string[]> {
  const lists = await Promise.all(plurals.map((plural) => world.list(plural)));
  return lists
    .flat()
    .filter(({ metadata }) => !isExempt(metadata.name))
    .map(({ metadata }) => `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`)
    .sort();
}
