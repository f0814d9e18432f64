/** Which scenarios can be played on the API server that the clusters run. */
import { test } from 'bun:test';
import { EMULATED_VERSION, SERVER_VERSION } from '../rig/index.ts';
import type { Scenario } from './world.ts';

/** The version whose fields and kinds the server has. */
const VERSION = EMULATED_VERSION ?? SERVER_VERSION;

const minorOf = (version: string): number => Number(version.split('.')[1]);

/** Whether the server has what the scenario is about. */
export function canPlay({ since }: Scenario, server = VERSION): boolean {
  return since === undefined || minorOf(server) >= minorOf(since.server);
}

/** A test for each scenario; where the server is too old a skipped one, whose name says why. */
export function testEach(
  scenarios: readonly Scenario[],
  play: (scenario: Scenario) => Promise<void>,
): void {
  for (const scenario of scenarios) {
    if (canPlay(scenario)) test(scenario.name, () => play(scenario));
    else test.skip(skippedName(scenario), () => undefined);
  }
}

function skippedName({ name, since }: Scenario): string {
  return `${name} (${since?.has} came with ${since?.server}, this is ${VERSION})`;
}
