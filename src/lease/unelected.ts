/** `--leader-elect=false`: this process leads from its start to its end and asks nobody. */
import { FencedError } from '../api/errors.ts';
import type { WriteFence } from '../kube/index.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import { type LeadCallback, TermListeners } from './listeners.ts';
import type { Lead } from './term.ts';
import type { Elector, ElectorState, LeaseInfo } from './types.ts';

// Without election there is one term for ever; nobody else is meant to lead in between.
const LEAD: Lead = Object.freeze({
  term: 0,
  since: 0,
  leaseUid: '',
  how: 'unelected',
  followsOwn: true,
});

/** An Elector that always leads, until it is released. */
export class UnelectedLeader implements Elector {
  readonly identity: string;
  readonly fence: WriteFence;
  readonly #listeners: TermListeners;
  readonly #abort = new AbortController();

  readonly #since: number;

  constructor(options: { hostName: string; clock: Clock; random: Random; log: Logger }) {
    this.#since = options.clock.now();
    this.identity = `${options.hostName}_${options.random.uuid()}`;
    this.#listeners = new TermListeners(options.log);
    const { signal } = this.#abort;
    this.fence = { mayWrite: () => !signal.aborted, signal: () => signal };
  }

  state(): ElectorState {
    return this.#abort.signal.aborted ? 'stopped' : 'leading';
  }

  onLead(callback: LeadCallback): void {
    this.#listeners.addLead(callback, this.state() === 'leading' ? LEAD : undefined);
  }

  /** A term without election is never lost. */
  onLost(): void {}

  /** Upstream has no such check without election. */
  health(): undefined {
    return undefined;
  }

  heartbeat(): void {}

  async release(): Promise<void> {
    this.#abort.abort(new FencedError());
  }

  leaseInfo(): LeaseInfo {
    const { identity } = this;
    const leading = this.state() === 'leading';
    const heldForMs = leading ? Number.MAX_SAFE_INTEGER : 0;
    const nobody = { lease: '', holder: '', term: 0, holderSince: 0 };
    const info = { identity, state: this.state(), ...nobody, since: this.#since, heldForMs };
    return leading ? { ...info, how: LEAD.how } : info;
  }
}
