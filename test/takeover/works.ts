/** What shows that a manager leads and works. */
import type { Manager } from '../rig/index.ts';
import { deployment, template, type World } from '../scenarios/world.ts';

/** It rolls out a Deployment of its own, of this name and label. Throws with its last log lines. */
export async function rollsOut(manager: Manager, world: World, name: string): Promise<void> {
  const labels = { app: name };
  const fields = { selector: { matchLabels: labels }, template: template('1', {}, labels) };
  await world.create(deployment(1, fields, name));
  await world.rolledOut(name).catch((error: Error) => {
    throw new Error(`${manager.name} does not work: ${error.message}\n${manager.tail()}`);
  });
}
