/** Carries out the steps of the election for one candidate: calls, waits, the record, the fence. */
import { isConflict } from '../api/errors.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { Cells } from './cells.ts';
import {
  afterFailure,
  afterRead,
  afterWrite,
  NEWCOMER,
  releaseOf,
  standDown,
  startTry,
  timeLeftMs,
} from './elect.ts';
import type { CallLimits, LeasePort } from './lock.ts';
import type { CandidateSetup, FromCandidate } from './messages.ts';
import type { RuntimeRecords } from './record.ts';
import { RecordKeeper } from './record-keeper.ts';
import type { ElectionState, LastTerm, Moment, Rules, Step, Turn } from './state.ts';
import type { ElectionRecord, SeenLease } from './term.ts';
import { callTimeoutMs, holdMs } from './times.ts';

/** What a candidate touches outside itself. */
export interface CandidatePorts {
  readonly lock: LeasePort;
  readonly records: RuntimeRecords;
  readonly cells: Cells;
  readonly clock: Clock;
  readonly random: Random;
  tell(message: FromCandidate): void;
}

type LogMessage = Extract<FromCandidate, { kind: 'log' }>;
type Call = Extract<Step, { do: 'read' | 'create' | 'update' }>;
type Setup = Pick<CandidateSetup, 'lease' | 'rules' | 'machine' | 'lockId' | 'round'>;

const ATTEMPTING = 'Attempting to acquire leader lease...';
const OPTIMISTIC = 'Failed to update lease optimistically, falling back to slow path';
const RECORD_PROBLEM =
  'Could not write the runtime record: the next process will wait until the Lease expires';

/** One candidate: runs in a thread of its own and talks to the main thread in messages. */
export class Candidate {
  readonly #setup: Setup;
  #rules: Rules;
  readonly #ports: CandidatePorts;
  readonly #keeper: RecordKeeper;
  #state: ElectionState = NEWCOMER;
  #round: number;
  #halted = false;
  #stopping = false;
  /** Counts interruptions: whatever was begun before the last one is void. */
  #generation = 0;
  #pending: AbortController | undefined;
  #shown: SeenLease | undefined;

  constructor(setup: Setup, ports: CandidatePorts) {
    this.#setup = setup;
    this.#rules = setup.rules;
    this.#ports = ports;
    this.#round = setup.round;
    this.#keeper = new RecordKeeper(setup, ports.records);
  }

  /** Stands for election until `release`, then releases the Lease if it is ours. */
  async run(): Promise<void> {
    this.#log('info', ATTEMPTING);
    while (!this.#stopping) {
      if (this.#halted) await this.#pause(undefined);
      else await this.#try();
    }
    await this.#release();
    this.#ports.tell({ kind: 'released' });
  }

  /**
   * The main thread has ended its last term: whatever we hold, begin round `round` as a standby.
   * `remembered` is the last term that was worked in.
   */
  standBy(round: number, remembered: LastTerm | undefined): void {
    this.#ports.cells.drop();
    this.#rules = { ...this.#rules, remembered };
    this.#state = standDown(this.#state);
    this.#round = round;
    this.#halted = false;
    this.#log('info', ATTEMPTING);
    this.#interrupt();
  }

  /** Ends `run`. */
  release(): void {
    this.#ports.cells.drop();
    this.#stopping = true;
    this.#interrupt();
  }

  async #try(): Promise<void> {
    const rules = this.#rules;
    const generation = this.#generation;
    const silentMs = this.#now().mono - this.#ports.cells.aliveAt();
    const mainAlive = silentMs <= rules.times.renewDeadlineMs;
    let turn: Turn = startTry(this.#state, this.#now(), rules, mainAlive);
    for (;;) {
      this.#state = turn.state;
      const step = turn.step;
      if (step.do === 'wait') {
        if (turn.state.phase === 'standby')
          this.#log(4, 'Failed to acquire lease', { why: step.because });
        return this.#pause(step.ms);
      }
      if (step.do === 'lead') {
        const { lead } = step;
        this.#log('info', 'Successfully acquired lease', { how: lead.how, term: lead.term });
        this.#ports.tell({ kind: 'lead', round: this.#round, lead, seen: step.seen });
        return this.#pause(rules.times.retryPeriodMs);
      }
      if (step.do === 'lost') {
        this.#ports.cells.drop();
        this.#halted = true;
        this.#ports.tell({ kind: 'lost', round: this.#round, because: step.because });
        return;
      }
      turn = await this.#call(step);
      if (generation !== this.#generation) return;
    }
  }

  async #call(step: Call): Promise<Turn> {
    const rules = this.#rules;
    const generation = this.#generation;
    const sentAt = this.#now();
    const draw = this.#ports.random.next();
    try {
      if (step.do === 'read') {
        const seen = await this.#limited((limits) => this.#ports.lock.read(limits));
        if (seen?.record.holderIdentity === rules.identity) this.#keeper.shown(seen);
        this.#noteSeen(seen);
        return afterRead(this.#state, seen, sentAt, this.#now(), rules, draw);
      }
      if (step.do === 'update' && step.slowPath) this.#ports.tell({ kind: 'slow-path' });
      const written = await this.#write(step.do, step.record);
      this.#recordProblem(this.#keeper.written(written));
      this.#noteSeen(written);
      const turn = afterWrite(this.#state, written, sentAt, this.#now(), rules);
      if (generation === this.#generation) this.#extend(turn.state, sentAt);
      return turn;
    } catch (error) {
      this.#logFailure(step, error);
      const failure = { conflict: isConflict(error), text: textOf(error) };
      return afterFailure(this.#state, step, failure, this.#now(), rules, draw);
    }
  }

  #extend(state: ElectionState, sentAt: Moment): void {
    if (state.phase !== 'leading') return;
    const untilWall = sentAt.wall + holdMs(this.#rules.times);
    this.#ports.cells.hold(sentAt.mono, state.heldUntil, untilWall);
  }

  async #write(how: 'create' | 'update', record: ElectionRecord): Promise<SeenLease> {
    const leaseUid = how === 'create' ? '' : (this.#state.seen?.uid ?? '');
    this.#recordProblem(this.#keeper.beforeWrite(record, leaseUid));
    return this.#limited((limits) => this.#ports.lock[how](record, limits));
  }

  async #release(): Promise<void> {
    const { own, take } = this.#state;
    if (own === undefined && take === undefined) return;
    const rules = this.#rules;
    const until = this.#now().mono + rules.times.renewDeadlineMs;
    for (let conflict = true; conflict; ) {
      try {
        const seen = await this.#limited((limits) => this.#ports.lock.read(limits));
        const record = seen && releaseOf(seen, this.#now(), rules);
        if (record !== undefined) await this.#write('update', record);
        return;
      } catch (error) {
        conflict = isConflict(error) && this.#now().mono < until;
        if (!conflict) this.#log('error', 'Failed to release lease', { err: textOf(error) });
      }
    }
  }

  /** Runs one call within its time limit; an interruption aborts it. */
  async #limited<T>(call: (limits: CallLimits) => Promise<T>): Promise<T> {
    const rules = this.#rules;
    const limitMs = callTimeoutMs(rules.times);
    const leading = this.#state.phase === 'leading' && !this.#stopping;
    const leftMs = leading ? timeLeftMs(this.#state, this.#now(), rules) : limitMs;
    const timeoutMs = Math.max(1, Math.min(limitMs, leftMs));
    const pending = new AbortController();
    this.#pending = pending;
    const limit = this.#ports.clock.after(timeoutMs, () => pending.abort());
    try {
      return await call({ timeoutMs, signal: pending.signal });
    } finally {
      limit.cancel();
    }
  }

  /** Sleeps, for ever if `ms` is undefined; an interruption ends it. */
  async #pause(ms: number | undefined): Promise<void> {
    const pending = new AbortController();
    this.#pending = pending;
    await this.#ports.clock.sleep(ms ?? Number.MAX_SAFE_INTEGER, pending.signal);
  }

  #interrupt(): void {
    this.#generation++;
    this.#pending?.abort();
  }

  #now(): Moment {
    return { mono: this.#ports.clock.monotonic(), wall: this.#ports.clock.now() };
  }

  #noteSeen(seen: SeenLease | undefined): void {
    const shown = this.#shown;
    this.#shown = seen;
    const same =
      shown?.uid === seen?.uid &&
      shown?.record.holderIdentity === seen?.record.holderIdentity &&
      shown?.record.leaseTransitions === seen?.record.leaseTransitions;
    if (!same) this.#ports.tell({ kind: 'seen', seen });
  }

  #recordProblem(problem: string | undefined): void {
    if (problem !== undefined) this.#log('warning', RECORD_PROBLEM, { err: problem });
  }

  #logFailure(step: Call, error: unknown): void {
    const err = textOf(error);
    if (step.do === 'read') this.#log('error', 'Error retrieving lease lock', { err });
    else if (step.do === 'create')
      this.#log('error', 'Error initially creating lease lock', { err });
    else if (this.#state.phase === 'leading' && !step.slowPath) this.#log(2, OPTIMISTIC, { err });
    else this.#log('error', 'Failed to update lease', { err });
  }

  #log(level: LogMessage['level'], message: string, fields: LogMessage['fields'] = {}): void {
    const { namespace, name } = this.#setup.lease;
    const lock = `${namespace}/${name}`;
    this.#ports.tell({ kind: 'log', level, message, fields: { lock, ...fields } });
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
