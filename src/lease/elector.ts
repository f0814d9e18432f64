/** The main thread's side of the election: terms, the write fence, and what others see of them. */
import { FencedError } from '../api/errors.ts';
import { timeMs } from '../api/time.ts';
import type { WriteFence } from '../kube/index.ts';
import type { Timer } from '../runtime/clock.ts';
import { CANDIDATE_STOP_GRACE_MS, HEARTBEAT_MS_MAX, HEARTBEAT_MS_MIN } from '../runtime/limits.ts';
import type { Logger } from '../runtime/log.ts';
import type { HealthCheck } from '../runtime/status.ts';
import { Cells } from './cells.ts';
import { type LeadCallback, type LostCallback, TermListeners } from './listeners.ts';
import { leaseReference } from './lock.ts';
import { readMachine } from './machine.ts';
import type { FromCandidate } from './messages.ts';
import { type ElectionMetrics, electionMetrics } from './metrics.ts';
import { type Reader, recordFile } from './record.ts';
import { inheritedRules, rememberTerm } from './remembered.ts';
import type { Rules } from './state.ts';
import type { Lead, SeenLease } from './term.ts';
import { type CandidateThread, type StartThread, workerThreads } from './thread.ts';
import type { ElectionOptions, Elector, ElectorState, LeaseInfo } from './types.ts';
import { writePosted } from './worker-log.ts';

/** Upstream's tolerance: a leader is unhealthy when its renewal is older than this and the Lease. */
const EXPIRED_LEASE_TOLERANCE_MS = 20_000;
const DEFAULT_RUNTIME_DIRECTORY = '/run/holdfast';
const LOG_LEVELS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const BEATS_PER_RETRY_PERIOD = 4;

interface Term {
  readonly lead: Lead;
  readonly abort: AbortController;
}

/** An Elector over one Lease, with a candidate in a thread of its own. */
export class LeaseElector implements Elector {
  readonly identity: string;
  readonly fence: WriteFence;
  readonly #options: ElectionOptions;
  readonly #log: Logger;
  readonly #reader: Reader;
  readonly #startThread: StartThread;
  readonly #metrics: ElectionMetrics;
  readonly #listeners: TermListeners;
  #rules: Rules;
  #cells = new Cells();
  #thread: CandidateThread | undefined;
  /** Counts wishes to lead: messages of a candidate about an earlier one are void. */
  #round = 0;
  #term: Term | undefined;
  #seen: SeenLease | undefined;
  #since: number;
  #stopped = false;
  /** A term has ended and its work is stopping. */
  #settling = false;
  #beat: Timer | undefined;
  #expiry: Timer | undefined;
  #onReleased: () => void = () => undefined;

  constructor(options: ElectionOptions) {
    this.#options = options;
    this.#since = options.clock.now();
    this.#log = options.log.named('leaderelection');
    const machine = options.machine ?? readMachine();
    this.#reader = { machine, lockId: options.lockId };
    this.#startThread = options.startThread ?? threadsOf(options);
    this.#metrics = electionMetrics(options.metrics, options.lease.name);
    this.#listeners = new TermListeners(this.#log);
    this.identity = `${machine.hostName}_${options.random.uuid()}`;
    const records = recordFile(this.#runtimeDirectory(), options.lease);
    const own = { identity: this.identity, times: options.times };
    this.#rules = inheritedRules(own, options.facts, records, this.#reader);
    this.fence = {
      mayWrite: () => this.#term !== undefined && this.#held(),
      signal: () => this.#term?.abort.signal ?? AbortSignal.abort(new FencedError()),
    };
    this.#beatOn();
    this.#begin();
  }

  state(): ElectorState {
    if (this.#stopped) return 'stopped';
    return this.#term === undefined ? 'standby' : 'leading';
  }

  onLead(callback: LeadCallback): void {
    this.#listeners.addLead(callback, this.#term?.lead);
  }

  onLost(callback: LostCallback): void {
    this.#listeners.addLost(callback);
  }

  health(): HealthCheck {
    const { lease, times } = this.#options;
    const limitMs = times.leaseDurationMs + EXPIRED_LEASE_TOLERANCE_MS;
    const check = () => {
      const info = this.leaseInfo();
      if ((info.renewedAgoMs ?? 0) <= limitMs) return undefined;
      return `failed election to renew leadership on lease ${lease.name}`;
    };
    return { name: 'leaderElection', check };
  }

  heartbeat(): void {
    this.#cells.beat(this.#options.clock.monotonic());
  }

  async release(): Promise<void> {
    if (this.#stopped) return;
    this.#endTerm();
    this.#stopped = true;
    this.#beat?.cancel();
    const thread = this.#thread;
    if (thread === undefined) return;
    const released = new Promise<void>((resolve) => {
      this.#onReleased = resolve;
    });
    const { renewDeadlineMs } = this.#options.times;
    const limit = new AbortController();
    const late = this.#options.clock.sleep(renewDeadlineMs + CANDIDATE_STOP_GRACE_MS, limit.signal);
    thread.post({ kind: 'release' });
    await Promise.race([released, late]);
    limit.abort();
    thread.stop();
  }

  leaseInfo(): LeaseInfo {
    const { clock, lease } = this.#options;
    const now = clock.monotonic();
    const term = this.#term;
    const info = {
      identity: this.identity,
      state: this.state(),
      lease: `${lease.namespace}/${lease.name}`,
      holder: this.#seen?.record.holderIdentity ?? '',
      term: this.#seen?.record.leaseTransitions ?? 0,
      since: this.#since,
      holderSince: timeMs(this.#seen?.record.acquireTime),
    };
    if (term === undefined) return { ...info, heldForMs: 0 };
    const heldForMs = this.#held() ? this.#cells.heldUntil() - Math.floor(now) : 0;
    const renewedAgoMs = Math.max(0, Math.floor(now) - this.#cells.renewedAt());
    return { ...info, how: term.lead.how, renewedAgoMs, heldForMs };
  }

  #begin(): void {
    if (this.#stopped) return;
    this.#cells = new Cells();
    this.heartbeat();
    const { lease } = this.#options;
    const setup = {
      ...this.#reader,
      lease,
      rules: this.#rules,
      runtimeDirectory: this.#runtimeDirectory(),
      cells: this.#cells.buffer,
      round: this.#round,
    };
    const died = (because: string) => this.#died(because);
    try {
      this.#thread = this.#startThread(setup, { message: (said) => this.#hear(said), died });
    } catch (error) {
      died(String(error));
    }
  }

  #died(because: string): void {
    this.#thread = undefined;
    this.#onReleased();
    if (this.#stopped) return;
    this.#log.error('The thread of leader election has died', new Error(because));
    if (this.#term !== undefined) this.#lose('the thread of leader election has died');
    else if (!this.#settling) this.#standBy();
  }

  #hear(said: FromCandidate): void {
    if (said.kind === 'released') this.#onReleased();
    if (this.#stopped) return;
    if (said.kind === 'lead' && said.round === this.#round) this.#lead(said.lead, said.seen);
    else if (said.kind === 'lost' && said.round === this.#round) this.#lose(said.because);
    else if (said.kind === 'seen') this.#see(said.seen);
    else if (said.kind === 'slow-path') this.#metrics.slowPath();
    else if (said.kind === 'log') writePosted(this.#log, said);
  }

  #lead(lead: Lead, seen: SeenLease): void {
    if (this.#options.clock.monotonic() >= this.#cells.heldUntil()) {
      // Over before it was heard of: nothing has begun, so nothing needs to stop.
      this.#round++;
      this.#standBy();
      return;
    }
    this.#term = { lead, abort: new AbortController() };
    this.#since = this.#options.clock.now();
    this.#remember(seen, lead.since);
    this.#see(seen);
    this.#metrics.leading(true);
    this.#record('became leader');
    this.#watchExpiry();
    this.#listeners.lead(lead);
  }

  #lose(because: string): void {
    // Whatever the candidate says about this round from now on is void.
    this.#round++;
    if (!this.#endTerm()) {
      this.#standBy();
      return;
    }
    this.#log.error('leaderelection lost', new Error(because));
    this.#settling = true;
    void this.#listeners.lost(because).then(() => {
      this.#settling = false;
      this.#standBy();
    });
  }

  /** Closes the fence; false if there is no term. */
  #endTerm(): boolean {
    const term = this.#term;
    if (term === undefined) return false;
    this.#term = undefined;
    this.#since = this.#options.clock.now();
    this.#expiry?.cancel();
    term.abort.abort(new FencedError());
    this.#metrics.leading(false);
    this.#record('stopped leading');
    return true;
  }

  /** Lets the candidate wish to lead again; starts another one if there is none. */
  #standBy(): void {
    if (this.#stopped) return;
    if (this.#thread !== undefined) {
      const { remembered } = this.#rules;
      this.#thread.post({ kind: 'stand-by', round: this.#round, remembered });
      return;
    }
    const { clock, times } = this.#options;
    clock.after(times.retryPeriodMs, () => this.#begin(), { background: true });
  }

  #see(seen: SeenLease | undefined): void {
    this.#seen = seen;
    const lead = this.#term?.lead;
    if (lead === undefined || seen?.record.holderIdentity !== this.identity) return;
    // Deleted and made anew under a living holder: the same term goes on in another object.
    if (seen.uid === lead.leaseUid) return;
    this.#remember(seen, lead.since);
  }

  #remember(seen: SeenLease, since: number): void {
    this.#rules = rememberTerm(this.#rules, seen, since, this.#options.facts, this.#reader);
  }

  #beatOn(): void {
    const { clock, times } = this.#options;
    const everyMs = times.retryPeriodMs / BEATS_PER_RETRY_PERIOD;
    const ms = Math.min(Math.max(everyMs, HEARTBEAT_MS_MIN), HEARTBEAT_MS_MAX);
    const beat = () => {
      this.heartbeat();
      this.#beat = clock.after(ms, beat, { background: true });
    };
    this.#beat = clock.after(ms, beat, { background: true });
  }

  /** Ends the term at the moment until which the Lease was last known to hold. */
  #watchExpiry(): void {
    const { clock } = this.#options;
    const until = this.#cells.heldUntil();
    const leftMs = until - clock.monotonic();
    // 0: the candidate has closed the fence, and why is on its way.
    if (until !== 0 && leftMs <= 0) {
      this.#lose('the Lease was not renewed in time');
      return;
    }
    const { retryPeriodMs } = this.#options.times;
    const ms = until === 0 ? retryPeriodMs : Math.ceil(leftMs);
    this.#expiry = clock.after(ms, () => this.#watchExpiry(), { background: true });
  }

  #held(): boolean {
    const { clock } = this.#options;
    return this.#cells.held(clock.monotonic(), clock.now());
  }

  #record(what: string): void {
    const seen = this.#seen;
    if (seen === undefined) return;
    const about = leaseReference(this.#options.lease, seen);
    this.#options.events.event(about, 'Normal', 'LeaderElection', `${this.identity} ${what}`);
  }

  #runtimeDirectory(): string {
    return this.#options.runtimeDirectory ?? DEFAULT_RUNTIME_DIRECTORY;
  }
}

function threadsOf({ config, version = 'unknown', log }: ElectionOptions): StartThread {
  const verbosity = LOG_LEVELS.findLast((level) => log.enabled(level)) ?? 0;
  return workerThreads({ config, version, verbosity });
}
