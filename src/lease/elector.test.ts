import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LogFields, Logger } from '../runtime/log.ts';
import { createMetrics } from '../runtime/metrics.ts';
import { seededRandom } from '../runtime/random.ts';
import { type FakeClock, fakeClock } from '../runtime/testing/fake-clock.ts';
import { Cells } from './cells.ts';
import { type Elector, type Lead, runElected, runUnelected } from './index.ts';
import type { CandidateSetup, FromCandidate, ToCandidate } from './messages.ts';
import type { SeenLease } from './term.ts';
import type { ThreadEvents } from './thread.ts';

const TIMES = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };
const SOME_DAY = Date.parse('2026-02-03T04:05:06Z');
const LEAD: Lead = { term: 3, since: 3, leaseUid: 'uid', how: 'expired', followsOwn: false };

const directory = mkdtempSync(join(tmpdir(), 'holdfast-elector-'));
afterAll(() => rmSync(directory, { recursive: true }));

function keepingLogger(lines: string[]): Logger {
  const keep = (level: string) => (message: string, fields?: LogFields) => {
    lines.push(`${level} ${message} ${JSON.stringify(fields ?? {})}`);
  };
  return {
    info: keep('I'),
    warning: keep('W'),
    error: (message, error) => lines.push(`E ${message}: ${error}`),
    v: (level) => ({ info: keep(`V${level}`) }),
    enabled: () => true,
    named: () => keepingLogger(lines),
  };
}

/** A thread that a test plays: what it was told, and what it says. */
interface Thread {
  readonly setup: CandidateSetup;
  readonly cells: Cells;
  readonly told: ToCandidate[];
  readonly on: ThreadEvents;
  stopped: boolean;
}

class Stage {
  readonly clock: FakeClock = fakeClock(SOME_DAY);
  readonly threads: Thread[] = [];
  readonly lines: string[] = [];
  readonly events: string[] = [];
  readonly facts = new Map<string, string>();
  readonly metrics = createMetrics({ process: 'none' });
  readonly elector: Elector;
  startFails = false;

  constructor() {
    this.elector = runElected({
      lease: { namespace: 'kube-system', name: 'kube-controller-manager' },
      times: TIMES,
      config: { server: '', namespace: '', source: '', insecureSkipTlsVerify: false },
      runtimeDirectory: directory,
      lockId: 'lock',
      facts: {
        get: (name) => this.facts.get(name),
        set: (name, text) => this.facts.set(name, text),
      },
      clock: this.clock,
      random: seededRandom(1),
      log: keepingLogger(this.lines),
      metrics: this.metrics,
      events: {
        event: (about, type, reason, message) =>
          this.events.push([about.kind, about.name, about.uid, type, reason, message].join(' ')),
      },
      machine: { bootId: 'boot', machineId: 'a'.repeat(32), hostName: 'box' },
      startThread: (setup, on) => {
        if (this.startFails) throw new Error('no threads left');
        const cells = new Cells(setup.cells);
        const thread: Thread = { setup, cells, told: [], on, stopped: false };
        this.threads.push(thread);
        return {
          post: (message) => thread.told.push(message),
          stop: () => {
            thread.stopped = true;
          },
        };
      },
    });
  }

  get thread(): Thread {
    return this.threads.at(-1)!;
  }

  say(message: FromCandidate): void {
    this.thread.on.message(message);
  }

  seen(uid = 'uid'): SeenLease {
    const time = '2026-02-03T04:05:06.000000Z';
    const record = {
      holderIdentity: this.elector.identity,
      leaseDurationSeconds: 15,
      acquireTime: time,
      renewTime: time,
      leaseTransitions: 3,
    };
    return { uid, resourceVersion: '7', record };
  }

  /** The candidate has renewed just now. */
  renew(): void {
    const now = this.clock.monotonic();
    this.thread.cells.hold(now, now + 12_000, this.clock.now() + 12_000);
  }

  lead(round = 0): void {
    this.renew();
    this.say({ kind: 'lead', round, lead: LEAD, seen: this.seen() });
  }

  async gauge(): Promise<string> {
    return this.metrics.registry.getSingleMetricAsString('leader_election_master_status');
  }
}

describe('an elector', () => {
  test('stands by first, under an identity of host name and UUID', async () => {
    const { elector, thread, gauge } = bound(new Stage());
    expect(elector.identity).toMatch(/^box_[0-9a-f-]{36}$/);
    expect(elector.state()).toBe('standby');
    expect(elector.fence.mayWrite()).toBe(false);
    expect(elector.fence.signal().aborted).toBe(true);
    expect(elector.leaseInfo()).toMatchObject({ state: 'standby', holder: '', heldForMs: 0 });
    expect(await gauge()).toContain('{name="kube-controller-manager"} 0');
    expect(thread.setup.rules.identity).toBe(elector.identity);
    expect(thread.cells.aliveAt()).toBeGreaterThan(0);
  });

  test('leads when its candidate says so: callbacks, event, metric, fact', async () => {
    const stage = new Stage();
    const { elector } = stage;
    const leads: Lead[] = [];
    elector.onLead(() => {
      throw new Error('broken');
    });
    elector.onLead((lead) => leads.push(lead));
    stage.lead();
    expect(elector.state()).toBe('leading');
    expect(elector.fence.mayWrite()).toBe(true);
    expect(elector.fence.signal().aborted).toBe(false);
    elector.onLead((lead) => leads.push(lead));
    expect(leads).toEqual([LEAD, LEAD]);
    expect(stage.events).toEqual([
      `Lease kube-controller-manager uid Normal LeaderElection ${elector.identity} became leader`,
    ]);
    expect(await stage.gauge()).toContain('{name="kube-controller-manager"} 1');
    expect(JSON.parse(stage.facts.get('lease.last-term')!)).toMatchObject({
      identity: elector.identity,
      leaseUid: 'uid',
      leaseTransitions: 3,
    });
    expect(stage.lines).toContain('E A callback of leader election failed: Error: broken');
    expect(elector.leaseInfo()).toMatchObject({
      how: 'expired',
      holder: elector.identity,
      term: 3,
      renewedAgoMs: 0,
      heldForMs: 12_000,
    });
  });

  test('that has lost stands by only when its work has stopped', async () => {
    const stage = new Stage();
    const { elector } = stage;
    let stop = () => {};
    const stopped = new Promise<void>((resolve) => {
      stop = resolve;
    });
    const because: string[] = [];
    elector.onLost((why) => {
      because.push(why);
      return stopped;
    });
    elector.onLost(() => Promise.reject(new Error('broken too')));
    stage.lead();
    const signal = elector.fence.signal();
    stage.thread.cells.drop();
    expect(elector.fence.mayWrite()).toBe(false);
    stage.say({ kind: 'lost', round: 0, because: 'other holds the Lease' });
    expect(signal.aborted).toBe(true);
    expect(elector.state()).toBe('standby');
    await stage.clock.settle();
    expect(stage.thread.told).toEqual([]);
    stop();
    await stage.clock.settle();
    const remembered = { leaseUid: 'uid', leaseTransitions: 3, since: 3 };
    expect(stage.thread.told).toMatchObject([{ kind: 'stand-by', round: 1, remembered }]);
    expect(because).toEqual(['other holds the Lease']);
    expect(stage.lines).toContain('E leaderelection lost: Error: other holds the Lease');
    expect(stage.lines).toContain('E A callback of leader election failed: Error: broken too');
    expect(stage.events.at(-1)).toEndWith('stopped leading');
    expect(await stage.gauge()).toContain('} 0');
    stage.lead(0);
    expect(elector.state()).toBe('standby');
    stage.lead(1);
    expect(elector.state()).toBe('leading');
    expect(elector.fence.signal()).not.toBe(signal);
  });

  test('ends its term by itself when the candidate is silent too long', async () => {
    const stage = new Stage();
    stage.lead();
    await stage.clock.advance(8_000);
    stage.renew();
    await stage.clock.advance(11_999);
    expect(stage.elector.state()).toBe('leading');
    const signal = stage.elector.fence.signal();
    await stage.clock.advance(1);
    expect(signal.aborted).toBe(true);
    expect(stage.elector.state()).toBe('standby');
    expect(stage.thread.told).toMatchObject([{ kind: 'stand-by', round: 1 }]);
    // The candidate's own notice of that comes later and changes nothing.
    stage.say({ kind: 'lost', round: 0, because: 'late' });
    expect(stage.thread.told.length).toBe(1);
  });

  test('does not begin a term that is over before it is heard of', () => {
    const stage = new Stage();
    stage.say({ kind: 'lead', round: 0, lead: LEAD, seen: stage.seen() });
    expect(stage.elector.state()).toBe('standby');
    expect(stage.events).toEqual([]);
    expect(stage.facts.size).toBe(0);
    expect(stage.thread.told).toMatchObject([
      { kind: 'stand-by', round: 1, remembered: undefined },
    ]);
  });

  test('says that the main thread is alive', async () => {
    const { clock, thread } = new Stage();
    await clock.advance(5_000);
    expect(clock.monotonic() - thread.cells.aliveAt()).toBeLessThanOrEqual(500);
  });

  test('starts another thread when one dies, and leads by it', async () => {
    const stage = new Stage();
    stage.lead();
    const dead = stage.thread;
    dead.on.died('out of memory');
    expect(stage.elector.state()).toBe('standby');
    expect(stage.elector.fence.mayWrite()).toBe(false);
    await stage.clock.advance(2_000);
    expect(stage.threads.length).toBe(2);
    expect(stage.thread.setup).toMatchObject({
      round: 1,
      rules: { remembered: { leaseUid: 'uid', leaseTransitions: 3, since: 3 } },
    });
    // What the dead one had promised counts no more.
    dead.cells.hold(0, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
    expect(stage.elector.fence.mayWrite()).toBe(false);
    stage.lead(1);
    expect(stage.elector.fence.mayWrite()).toBe(true);
    expect(stage.lines).toContain('E The thread of leader election has died: Error: out of memory');
  });

  test('tries again when no thread can be started', async () => {
    const stage = new Stage();
    stage.startFails = true;
    stage.thread.on.died('killed');
    await stage.clock.advance(6_000);
    expect(stage.threads.length).toBe(1);
    stage.startFails = false;
    await stage.clock.advance(2_000);
    expect(stage.threads.length).toBe(2);
  });

  test('remembers the Lease that was made anew under it', () => {
    const stage = new Stage();
    stage.lead();
    stage.say({ kind: 'seen', seen: stage.seen('uid-2') });
    expect(stage.elector.state()).toBe('leading');
    expect(JSON.parse(stage.facts.get('lease.last-term')!).leaseUid).toBe('uid-2');
  });

  test('passes on slow paths and log lines', async () => {
    const stage = new Stage();
    stage.say({ kind: 'slow-path' });
    stage.say({ kind: 'log', level: 4, message: 'Failed', fields: { lock: 'a/b' } });
    stage.say({ kind: 'log', level: 'error', message: 'Bad', fields: { err: 'refused' } });
    expect(stage.lines).toEqual(['V4 Failed {"lock":"a/b"}', 'E Bad: refused']);
    const total = await stage.metrics.registry.getSingleMetricAsString(
      'leader_election_slowpath_total',
    );
    expect(total).toContain('{name="kube-controller-manager"} 1');
  });

  test('is unhealthy only while it leads on a renewal older than the Lease and 20 s', async () => {
    const stage = new Stage();
    const health = stage.elector.health()!;
    expect(health.name).toBe('leaderElection');
    await stage.clock.advance(100_000);
    expect(health.check()).toBeUndefined();
    const renewedAt = stage.clock.monotonic();
    const { cells } = stage.thread;
    cells.hold(renewedAt, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
    stage.say({ kind: 'lead', round: 0, lead: LEAD, seen: stage.seen() });
    await stage.clock.advance(35_000);
    expect(health.check()).toBeUndefined();
    await stage.clock.advance(1);
    expect(health.check()).toBe(
      'failed election to renew leadership on lease kube-controller-manager',
    );
  });
});

describe('release', () => {
  test('closes the fence at once and waits for the candidate', async () => {
    const stage = new Stage();
    let lost = 0;
    stage.elector.onLost(() => {
      lost++;
    });
    stage.lead();
    const signal = stage.elector.fence.signal();
    const released = stage.elector.release();
    expect(signal.aborted).toBe(true);
    expect(stage.elector.state()).toBe('stopped');
    expect(stage.thread.told).toEqual([{ kind: 'release' }]);
    expect(stage.thread.stopped).toBe(false);
    stage.say({ kind: 'released' });
    await released;
    expect(stage.thread.stopped).toBe(true);
    expect(lost).toBe(0);
    stage.lead();
    expect(stage.elector.state()).toBe('stopped');
    await stage.elector.release();
    expect(stage.clock.timers()).toBe(0);
  });

  test('does not wait longer than the renew deadline and a second', async () => {
    const stage = new Stage();
    const released = stage.elector.release();
    await stage.clock.advance(10_999);
    expect(stage.thread.stopped).toBe(false);
    await stage.clock.advance(1);
    await released;
    expect(stage.thread.stopped).toBe(true);
  });

  test('does not wait for a thread that dies over it', async () => {
    const stage = new Stage();
    const released = stage.elector.release();
    stage.thread.on.died('killed');
    await released;
    await stage.clock.advance(60_000);
    expect(stage.threads.length).toBe(1);
  });
});

test('times that make no election are refused with the flag', () => {
  const options = { ...TIMES, renewDeadlineMs: 20_000 };
  expect(() => runElected({ times: options } as Parameters<typeof runElected>[0])).toThrow(
    /^--leader-elect-lease-duration is 15s; it must be greater than/,
  );
});

test('without election one leads from start to end', async () => {
  const lines: string[] = [];
  const leader = runUnelected({
    hostName: 'box',
    clock: fakeClock(SOME_DAY),
    random: seededRandom(1),
    log: keepingLogger(lines),
  });
  const leads: Lead[] = [];
  leader.onLead((lead) => leads.push(lead));
  expect(leads).toEqual([{ term: 0, since: 0, leaseUid: '', how: 'unelected', followsOwn: true }]);
  expect(leader.state()).toBe('leading');
  expect(leader.health()).toBeUndefined();
  expect(leader.leaseInfo()).toMatchObject({ lease: '', how: 'unelected', since: SOME_DAY });
  const signal = leader.fence.signal();
  expect(leader.fence.mayWrite()).toBe(true);
  await leader.release();
  expect(leader.state()).toBe('stopped');
  expect(leader.fence.mayWrite()).toBe(false);
  expect(signal.aborted).toBe(true);
  leader.onLead((lead) => leads.push(lead));
  expect(leads.length).toBe(1);
});

/** Lets tests take a stage apart. */
function bound(stage: Stage) {
  const { elector, thread } = stage;
  return { elector, thread, gauge: () => stage.gauge() };
}
