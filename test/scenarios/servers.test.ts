/** The clusters run the API server that was asked for, and know what it has. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type Cluster, EMULATED_VERSION, SERVER_VERSION, startCluster } from '../rig/index.ts';
import { canPlay } from './servers.ts';

setDefaultTimeout(120_000);

let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster({ audit: false });
});

afterAll(() => cluster?.stop());

test(`the API server is of version ${SERVER_VERSION}`, async () => {
  const answer = await cluster.api.raw('/version');
  const found = (await answer.json()) as Record<string, string>;
  expect(`${found.major}.${found.minor}`).toBe(SERVER_VERSION);
  expect(found.gitVersion).toStartWith(`v${SERVER_VERSION}.`);
  const emulated = `${found.emulationMajor}.${found.emulationMinor}`;
  expect(emulated).toBe(EMULATED_VERSION ?? SERVER_VERSION);
});

test('a scenario is left out on servers that are older than what it is about', () => {
  const about = (server: string) => ({ name: 'x', since: { server, has: 'spec.x' } });
  expect(canPlay(about('1.35'), '1.34')).toBe(false);
  expect(canPlay(about('1.35'), '1.35')).toBe(true);
  expect(canPlay(about('1.9'), '1.10')).toBe(true);
  expect(canPlay({ name: 'x' }, '1.34')).toBe(true);
});
