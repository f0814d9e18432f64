/** Whether a manager has touched what another one left. */
import { expect } from 'bun:test';
import type { Cluster, Manager } from '../rig/index.ts';
import type { World } from '../scenarios/world.ts';

/** The objects of a takeover, and how one sees that a manager is at work. */
export interface Estate {
  readonly cluster: Cluster;
  readonly flags: readonly string[];
  /** Makes the objects, under the reference. */
  furnish(): Promise<void>;
  /** Resolves once the manager leads and has done something of its own. */
  works(manager: Manager): Promise<void>;
  /** Name and version of all that must not be written, once nothing moves. */
  versions(): Promise<string[]>;
}

/**
 * From the reference to Holdfast and back, twice: nothing is written that was right. Gives the
 * reference that leads at the end.
 */
export async function backAndForth(estate: Estate): Promise<Manager> {
  const { cluster, flags } = estate;
  let reference: Manager = await cluster.startReference({ flags });
  await estate.furnish();
  for (let round = 0; round < 2; round++) {
    await estate.works(reference);
    const before = await estate.versions();
    reference.kill('SIGKILL');
    await reference.waitExit();
    const holdfast = await cluster.startHoldfast({ flags });
    await estate.works(holdfast);
    expect(await estate.versions()).toEqual(before);
    expect(await holdfast.stop()).toMatchObject({ code: 0 });
    reference = await cluster.startReference({ flags });
    await estate.works(reference);
    expect(await estate.versions()).toEqual(before);
  }
  return reference;
}

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
