import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { FAIR } from './api-server.ts';
import { LEASE, type LeadEvent, World } from './world.ts';

setDefaultTimeout(120_000);

const directory = mkdtempSync(join(tmpdir(), 'holdfast-election-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
let worlds = 0;

function world(seed: number, rates: readonly number[]): World {
  return new World(seed, join(directory, String(++worlds)), rates);
}

const DISTURBANCES = [
  'kill',
  'start',
  'reboot',
  'cut',
  'heal',
  'stick',
  'jump',
  'thread',
  'delete',
  'copy',
  'storm',
  'calm',
  'release',
] as const;

interface Act {
  readonly what: (typeof DISTURBANCES)[number];
  readonly host: number;
  readonly amount: number;
  readonly thenMs: number;
}

const RATES = [1, 1.01, 0.99];

const act: fc.Arbitrary<Act> = fc.record({
  what: fc.constantFrom(...DISTURBANCES),
  host: fc.nat(RATES.length - 1),
  amount: fc.integer({ min: 1, max: 100 }),
  thenMs: fc.integer({ min: 1, max: 3_000 }),
});

async function perform(world: World, { what, host: index, amount, thenMs }: Act): Promise<void> {
  const host = world.hosts[index]!;
  const other = world.hosts[(index + 1) % world.hosts.length]!;
  if (what === 'kill') host.kill();
  else if (what === 'start') restart();
  else if (what === 'reboot') host.reboot();
  else if (what === 'cut') host.cut = true;
  else if (what === 'heal') host.cut = false;
  else if (what === 'stick') host.stick(amount * 60);
  else if (what === 'jump') host.jumpWall((amount - 50) * 100_000);
  else if (what === 'thread') host.killThread();
  else if (what === 'delete') world.server.delete();
  else if (what === 'storm') world.weather = { lost: 0.1, unanswered: 0.15, late: 0.1 };
  else if (what === 'calm') world.weather = FAIR;
  else if (what === 'release') void host.elector?.release();
  else {
    host.kill();
    host.copyFrom(other);
    host.start();
  }
  await world.run(thenMs);

  function restart(): void {
    host.kill();
    host.start();
  }
}

/** After all disturbances: everybody is well again, and one of them leads. */
async function recover(world: World): Promise<void> {
  world.weather = FAIR;
  for (const host of world.hosts) {
    host.cut = false;
    host.kill();
    host.start();
  }
  await world.run(8_000);
  expect(world.writers().length).toBe(1);
}

function checkClaims(leads: readonly LeadEvent[]): void {
  leads.forEach(({ host, lead }, index) => {
    const before = leads[index - 1];
    if (lead.followsOwn && before !== undefined) expect(before.host).toBe(host);
    if (lead.how === 'instant' && before !== undefined) expect(before.host).toBe(host);
  });
}

test('never two may write, whatever happens, and one leads when it is over', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), fc.array(act, { maxLength: 25 }), async (seed, acts) => {
      const simulated = world(seed, RATES);
      for (const host of simulated.hosts) host.start();
      await simulated.run(1_000);
      for (const one of acts) await perform(simulated, one);
      await recover(simulated);
      checkClaims(simulated.leads);
    }),
    { numRuns: Number(process.env.HOLDFAST_RUNS ?? 60) },
  );
});
