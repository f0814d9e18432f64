/**
 * Leader election as a pure state machine, after client-go's leaderelection: (state, what was seen
 * or answered, now) gives the new state and the next step. `candidate.ts` carries the steps out.
 *
 * As upstream, expiry is judged by the local clock alone: from when a record was last seen to
 * change, by the duration in that record. Different from upstream: a holder that reads another
 * holder steps down at once instead of at its renew deadline; a standby wakes when the Lease
 * expires instead of at its next poll; and a process of ours that is surely dead is succeeded
 * early (`takeover.ts`).
 */
import { HURRIED_TAKES_MAX } from '../runtime/limits.ts';
import type { ElectionState, Moment, Rules, Step, Take, Turn } from './state.ts';
import { mayTake } from './takeover.ts';
import { type ElectionRecord, type SeenLease, sameRecord, termOf } from './term.ts';
import { acquireWaitMs, holdMs, leaseSeconds, microTime } from './times.ts';

/** A candidate that has seen nothing yet. */
export const NEWCOMER: ElectionState = Object.freeze({
  phase: 'standby',
  observedAt: 0,
  heldUntil: 0,
  hurried: 0,
});

/**
 * Begins a try to take or renew. A holder updates without reading, anybody else reads first. With
 * `mainAlive` false (the main thread is stuck) neither happens.
 */
export function startTry(
  state: ElectionState,
  now: Moment,
  rules: Rules,
  mainAlive: boolean,
): Turn {
  const { retryPeriodMs } = rules.times;
  if (state.phase === 'standby') {
    if (!mainAlive) return wait(state, retryPeriodMs, 'the main thread is stuck');
    return { state, step: { do: 'read' } };
  }
  if (timeLeftMs(state, now, rules) <= 0) return stepDown(state, NOT_IN_TIME);
  if (!mainAlive) {
    const ms = Math.min(retryPeriodMs, state.heldUntil - now.mono);
    return wait(state, ms, 'the main thread is stuck: no renewal');
  }
  const trying = { ...state, renewalStartedAt: state.renewalStartedAt ?? now.mono };
  return renew(trying, state.seen, now, rules, false);
}

/**
 * After a read: `seen` is undefined if there is no Lease, `startedAt` is when the read was sent and
 * `random` (uniform in [0, 1)) draws the wait of a standby.
 */
export function afterRead(
  before: ElectionState,
  seen: SeenLease | undefined,
  startedAt: Moment,
  now: Moment,
  rules: Rules,
  random: number,
): Turn {
  if (before.phase === 'leading') return holderRead(before, seen, now, rules);
  const waitMs = acquireWaitMs(rules.times, random);
  if (seen === undefined) {
    const freeInMs = goneFreeInMs(before, startedAt.mono, rules);
    if (freeInMs <= 0) return firstTake(before, now, rules);
    return wait(before, Math.min(waitMs, freeInMs), 'the Lease was deleted under its holder');
  }
  const state = observe(before, seen, now);
  const found = mayTake(state, seen, startedAt.mono, rules);
  if (typeof found === 'object') return take(state, seen, found, now, rules);
  return wait(state, Math.min(waitMs, found), `held by ${seen.record.holderIdentity}`);
}

/** After a create or update that succeeded; `sentAt` is when it left, `written` what is stored. */
export function afterWrite(
  state: ElectionState,
  written: SeenLease,
  sentAt: Moment,
  now: Moment,
  rules: Rules,
): Turn {
  const held: ElectionState = {
    ...state,
    seen: written,
    observedAt: now.mono,
    heldUntil: sentAt.mono + holdMs(rules.times),
    renewalStartedAt: undefined,
    own: termOf(written),
    hurried: 0,
  };
  if (state.phase === 'leading') {
    // The fence has closed at the old moment: this term is over even though the Lease is ours.
    if (now.mono >= state.heldUntil) return stepDown(held, NOT_IN_TIME);
    return wait(held, rules.times.retryPeriodMs, 'renewed');
  }
  if (now.mono >= held.heldUntil) return wait(held, 0, 'the answer came too late');
  const { how, followsOwn } = state.take ?? { how: 'expired', followsOwn: false };
  const term = written.record.leaseTransitions;
  const since = followsOwn ? (rules.remembered?.since ?? term) : term;
  const lead = { term, since, leaseUid: written.uid, how, followsOwn };
  const leading: ElectionState = { ...held, phase: 'leading', take: undefined };
  return { state: leading, step: { do: 'lead', lead, seen: written } };
}

/** After a read, create or update that failed; `random` (uniform in [0, 1)) draws a standby's wait. */
export function afterFailure(
  state: ElectionState,
  failed: Step,
  error: { readonly conflict: boolean; readonly text: string },
  now: Moment,
  rules: Rules,
  random: number,
): Turn {
  if (state.phase === 'leading') {
    const leftMs = timeLeftMs(state, now, rules);
    if (leftMs <= 0) return stepDown(state, `${NOT_IN_TIME}: ${error.text}`);
    if (failed.do === 'update' && !failed.slowPath) return { state, step: { do: 'read' } };
    return wait(state, Math.min(rules.times.retryPeriodMs, leftMs), error.text);
  }
  if (error.conflict && state.take?.how === 'instant' && state.hurried < HURRIED_TAKES_MAX) {
    return { state: { ...state, hurried: state.hurried + 1 }, step: { do: 'read' } };
  }
  return wait(state, acquireWaitMs(rules.times, random), error.text);
}

/** What a holder writes to release the Lease it has just read; undefined if it isn't the holder. */
export function releaseOf(seen: SeenLease, now: Moment, rules: Rules): ElectionRecord | undefined {
  if (seen.record.holderIdentity !== rules.identity) return undefined;
  const { leaseTransitions } = seen.record;
  const released = ownerRecord(rules, now, leaseTransitions);
  return { ...released, holderIdentity: '', leaseDurationSeconds: 1 };
}

/** The state of a candidate that may no longer lead but goes on watching the Lease. */
export function standDown(state: ElectionState): ElectionState {
  return { ...state, phase: 'standby', heldUntil: 0, renewalStartedAt: undefined, take: undefined };
}

/** Milliseconds a holder has left to finish the renewal under way. */
export function timeLeftMs(state: ElectionState, now: Moment, rules: Rules): number {
  const started = state.renewalStartedAt ?? now.mono;
  return Math.min(state.heldUntil, started + rules.times.renewDeadlineMs) - now.mono;
}

const NOT_IN_TIME = 'the Lease could not be renewed in time';

/** When a Lease that is gone could have been taken, had it stayed: its holder may not know yet. */
function goneFreeInMs(state: ElectionState, now: number, rules: Rules): number {
  const record = state.seen?.record;
  const holder = record?.holderIdentity ?? '';
  if (record === undefined || holder === '' || holder === rules.identity) return 0;
  return state.observedAt + record.leaseDurationSeconds * 1_000 - now;
}

function observe(state: ElectionState, seen: SeenLease, now: Moment): ElectionState {
  const known = state.seen;
  if (known?.uid === seen.uid && sameRecord(known.record, seen.record)) return state;
  return { ...state, seen, observedAt: now.mono };
}

function holderRead(
  before: ElectionState,
  seen: SeenLease | undefined,
  now: Moment,
  rules: Rules,
): Turn {
  if (timeLeftMs(before, now, rules) <= 0) return stepDown(before, NOT_IN_TIME);
  if (seen === undefined) return renew(before, undefined, now, rules, true);
  const state = observe(before, seen, now);
  const { holderIdentity: holder, leaseTransitions } = seen.record;
  if (holder === '') return stepDown(state, 'somebody has released the Lease');
  if (holder !== rules.identity || leaseTransitions !== state.own?.leaseTransitions) {
    return stepDown(state, `${holder} holds the Lease in term ${leaseTransitions}`);
  }
  return renew(state, seen, now, rules, true);
}

function renew(
  state: ElectionState,
  seen: SeenLease | undefined,
  now: Moment,
  rules: Rules,
  slowPath: boolean,
): Turn {
  const record = ownerRecord(rules, now, state.own?.leaseTransitions ?? 0);
  // The Lease of a living holder was deleted: it is made anew and keeps its count of transitions.
  if (seen === undefined) return { state, step: { do: 'create', record } };
  const { acquireTime } = seen.record;
  return { state, step: { do: 'update', record: { ...record, acquireTime }, slowPath } };
}

function firstTake(state: ElectionState, now: Moment, rules: Rules): Turn {
  const created: Take = { how: 'created', followsOwn: false, leaseTransitions: 0 };
  const record = ownerRecord(rules, now, 0);
  return { state: { ...state, take: created }, step: { do: 'create', record } };
}

function take(
  state: ElectionState,
  seen: SeenLease,
  manner: Omit<Take, 'leaseTransitions'>,
  now: Moment,
  rules: Rules,
): Turn {
  const found = seen.record;
  const ours = found.holderIdentity === rules.identity;
  const leaseTransitions = ours ? found.leaseTransitions : found.leaseTransitions + 1;
  const fresh = ownerRecord(rules, now, leaseTransitions);
  const record = ours ? { ...fresh, acquireTime: found.acquireTime } : fresh;
  return {
    state: { ...state, take: { ...manner, leaseTransitions } },
    step: { do: 'update', record, slowPath: false },
  };
}

function ownerRecord(rules: Rules, now: Moment, leaseTransitions: number): ElectionRecord {
  const time = microTime(now.wall);
  return {
    holderIdentity: rules.identity,
    leaseDurationSeconds: leaseSeconds(rules.times),
    acquireTime: time,
    renewTime: time,
    leaseTransitions,
  };
}

function stepDown(state: ElectionState, because: string): Turn {
  return { state: standDown(state), step: { do: 'lost', because } };
}

function wait(state: ElectionState, ms: number, because: string): Turn {
  return { state, step: { do: 'wait', ms: Math.max(0, Math.ceil(ms)), because } };
}
