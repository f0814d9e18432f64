import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { FAIR } from './api-server.ts';
import { type Host, type LeadEvent, World } from './world.ts';

setDefaultTimeout(120_000);

const directory = mkdtempSync(join(tmpdir(), 'holdfast-election-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
let worlds = 0;

function world(seed: number, rates: readonly number[]): World {
  return new World(seed, join(directory, String(++worlds)), rates);
}

/** More by hand when the rules change: HOLDFAST_ELECTION_RUNS=5000. */
const RUNS = Number(process.env.HOLDFAST_ELECTION_RUNS ?? 100);

const DISTURBANCES = [
  'kill',
  'start',
  'reboot',
  'cut',
  'heal',
  'stick',
  'jump',
  'thread',
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
  const restart = (prepare?: () => void) => {
    host.kill();
    prepare?.();
    host.start();
  };
  if (what === 'kill') host.kill();
  else if (what === 'start') restart();
  else if (what === 'reboot') host.reboot();
  else if (what === 'cut') host.cut = true;
  else if (what === 'heal') host.cut = false;
  else if (what === 'stick') host.stick(amount * 60);
  else if (what === 'jump') host.jumpWall((amount - 50) * 100_000);
  else if (what === 'thread') host.killThread();
  else if (what === 'storm') world.weather = { lost: 0.1, unanswered: 0.15, late: 0.1 };
  else if (what === 'calm') world.weather = FAIR;
  else if (what === 'release') void host.elector?.release();
  else restart(() => host.copyFrom(other));
  await world.run(thenMs);
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
    if (before === undefined || before.host === host) return;
    if (lead.followsOwn || lead.how === 'reboot' || lead.how === 'regained') {
      throw new Error(`host ${host.index} says ${lead.how} after host ${before.host.index}`);
    }
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
    { numRuns: RUNS },
  );
});

/** Long enough for each standby to see the Lease at least once between two deletions. */
const gap = fc.integer({ min: 1_700, max: 4_000 });

test('a Lease that is deleted under its holder gives no second one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), fc.array(gap, { maxLength: 8 }), async (seed, gaps) => {
      const simulated = world(seed, RATES);
      for (const host of simulated.hosts) host.start();
      await simulated.run(2_000);
      const first = simulated.leads[0];
      for (const gapMs of gaps) {
        simulated.server.delete();
        await simulated.run(gapMs);
      }
      expect(simulated.leads).toEqual([first!]);
      expect(simulated.writers()).toEqual([first!.host]);
    }),
    { numRuns: RUNS / 2 },
  );
});

/** Host 0 leads; host 1, if there is one, stands by. */
async function leading(rates: readonly number[] = [1, 1]): Promise<World> {
  const simulated = world(7, rates);
  simulated.hosts[0]!.start();
  await simulated.run(1_000);
  for (const host of simulated.hosts.slice(1)) host.start();
  await simulated.run(1_000);
  expect(simulated.writers()).toEqual([simulated.hosts[0]!]);
  return simulated;
}

/** Milliseconds until `host` may write, in steps of 10. */
async function untilLeading(simulated: World, host: Host): Promise<number> {
  for (let ms = 0; ms < 20_000; ms += 10) {
    if (host.elector?.fence.mayWrite()) return ms;
    await simulated.run(10, 10);
  }
  throw new Error('never leads');
}

function lastLead(simulated: World): LeadEvent {
  return simulated.leads.at(-1)!;
}

test('a process that is killed is succeeded by the next on its host at once', async () => {
  const simulated = await leading();
  const host = simulated.hosts[0]!;
  host.kill();
  host.start();
  expect(await untilLeading(simulated, host)).toBeLessThan(100);
  expect(lastLead(simulated).lead).toMatchObject({ term: 1, how: 'instant', followsOwn: true });
});

test('a process that stops is succeeded by the next on its host at once', async () => {
  const simulated = await leading([1]);
  const host = simulated.hosts[0]!;
  const stopped = host.elector!.release();
  await simulated.run(100);
  await stopped;
  expect(host.elector?.state()).toBe('stopped');
  expect(simulated.server.lease?.spec).toMatchObject({
    holderIdentity: '',
    leaseDurationSeconds: 1,
    leaseTransitions: 0,
  });
  host.kill();
  host.start();
  expect(await untilLeading(simulated, host)).toBeLessThan(100);
  expect(lastLead(simulated).lead).toMatchObject({ term: 1, how: 'instant', followsOwn: true });
});

test('a process that stops hands over to a standby at its next look', async () => {
  const simulated = await leading();
  void simulated.hosts[0]!.elector!.release();
  expect(await untilLeading(simulated, simulated.hosts[1]!)).toBeLessThan(1_200);
  expect(lastLead(simulated).lead).toMatchObject({ how: 'released-by-other', followsOwn: false });
});

test('after a reboot the host leads when two retry periods have passed', async () => {
  const simulated = await leading([1]);
  const host = simulated.hosts[0]!;
  host.reboot();
  host.start();
  const ms = await untilLeading(simulated, host);
  expect(ms).toBeGreaterThanOrEqual(1_000);
  expect(ms).toBeLessThan(1_200);
  expect(lastLead(simulated).lead).toMatchObject({ how: 'reboot', followsOwn: true });
});

test('what was copied to another machine leads to nothing', async () => {
  const simulated = await leading();
  const [original, copy] = simulated.hosts as [Host, Host];
  copy.kill();
  copy.copyFrom(original);
  original.kill();
  copy.start();
  expect(await untilLeading(simulated, copy)).toBeGreaterThanOrEqual(3_000);
  expect(lastLead(simulated).lead).toMatchObject({ how: 'expired', followsOwn: false });
});

test('a host that is cut off stops writing before another begins, and stands by again', async () => {
  const simulated = await leading();
  const [cut, other] = simulated.hosts as [Host, Host];
  const signal = cut.elector!.fence.signal();
  cut.cut = true;
  await untilLeading(simulated, other);
  expect(signal.aborted).toBe(true);
  expect(cut.elector?.state()).toBe('standby');
  expect(cut.events.at(-1)).toEndWith('stopped leading');
  cut.cut = false;
  other.kill();
  await untilLeading(simulated, cut);
  expect(lastLead(simulated).lead).toMatchObject({ how: 'expired', followsOwn: false });
});

test('a host that was cut off while nobody else stood leads again in the same term', async () => {
  const simulated = await leading([1]);
  const host = simulated.hosts[0]!;
  host.cut = true;
  await simulated.run(4_000);
  expect(host.elector?.state()).toBe('standby');
  host.cut = false;
  await untilLeading(simulated, host);
  expect(lastLead(simulated).lead).toMatchObject({ how: 'regained', term: 0, followsOwn: true });
});

test('a main thread that is stuck loses the Lease, and one that was stuck briefly keeps it', async () => {
  const simulated = await leading();
  const [stuck, other] = simulated.hosts as [Host, Host];
  stuck.stick(1_500);
  await simulated.run(3_000);
  expect(simulated.writers()).toEqual([stuck]);
  stuck.stick(60_000);
  await untilLeading(simulated, other);
  await simulated.run(60_000);
  expect(stuck.elector?.state()).toBe('standby');
  expect(simulated.leads.length).toBe(2);
});

test('a wall clock that jumps ahead closes the fence until the next renewal', async () => {
  const simulated = await leading();
  const host = simulated.hosts[0]!;
  host.jumpWall(3_600_000);
  expect(host.elector?.fence.mayWrite()).toBe(false);
  expect(await untilLeading(simulated, host)).toBeLessThan(700);
  host.jumpWall(-7_200_000);
  await simulated.run(2_000);
  expect(simulated.writers()).toEqual([host]);
  expect(simulated.leads.length).toBe(1);
});

test('when the thread of the election dies another takes the Lease back', async () => {
  const simulated = await leading();
  const host = simulated.hosts[0]!;
  host.killThread();
  await simulated.run(20);
  expect(host.elector?.fence.mayWrite()).toBe(false);
  expect(await untilLeading(simulated, host)).toBeLessThan(1_000);
  expect(lastLead(simulated).lead).toMatchObject({ how: 'regained', term: 0, followsOwn: true });
});
