/** One kill of a test: when by lot, and what must be true of the file after it. */
import { expect } from 'bun:test';
import type { Random } from '../../src/runtime/random.ts';
import type { Api } from '../rig/index.ts';
import { drawMoment, type Line } from './killer.ts';
import { complaintsAbout, readState } from './state-copy.ts';

/** How often the machine goes with the process, so that the tmpfs is lost. */
const REBOOTS = 0.1;

/** A kill at a moment drawn by lot; the file it left is whole, and the next process is started. */
export async function killOnce(line: Line, api: Api, random: Random): Promise<string> {
  const moment = drawMoment(random);
  await line.kill(moment);
  const state = readState(line.current.stateDir);
  const complaints = state === undefined ? [] : await complaintsAbout(state, api);
  expect({ kill: line.kills, moment, complaints }).toMatchObject({ complaints: [] });
  await line.restart({ rebooted: random.next() < REBOOTS });
  return JSON.stringify(moment);
}
