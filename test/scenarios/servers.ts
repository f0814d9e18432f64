/** Which scenarios can be played on the API server that the clusters run. */
import { EMULATED_VERSION, SERVER_VERSION } from '../rig/index.ts';
import type { Scenario } from './world.ts';

type About = Pick<Scenario, 'name' | 'since'>;

/** The version whose fields and kinds the server has. */
const VERSION = EMULATED_VERSION ?? SERVER_VERSION;

const minorOf = (version: string): number => Number(version.split('.')[1]);

/** Whether the server has what the scenario is about. */
export function canPlay({ since }: About, server = VERSION): boolean {
  return since === undefined || minorOf(server) >= minorOf(since.server);
}

/** The name of a scenario that is left out, which says why. */
export function skippedName({ name, since }: About): string {
  return `${name} (${since?.has} came with ${since?.server}, this is ${VERSION})`;
}
