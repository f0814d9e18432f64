/** Those who want to know when terms begin and end. */
import type { Logger } from '../runtime/log.ts';
import type { Lead } from './term.ts';

/** Called when a term begins. */
export type LeadCallback = (lead: Lead) => void;
/** Called when a term ends; what it promises is waited for before the next one may begin. */
export type LostCallback = (because: string) => void | Promise<void>;

/** Callbacks in order of registration. One that throws is logged and stops no other. */
export class TermListeners {
  readonly #log: Logger;
  readonly #onLead: LeadCallback[] = [];
  readonly #onLost: LostCallback[] = [];

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Adds a callback; `present` is the term that has begun already, if any. */
  addLead(callback: LeadCallback, present: Lead | undefined): void {
    this.#onLead.push(callback);
    if (present !== undefined) this.#tell(callback, present);
  }

  addLost(callback: LostCallback): void {
    this.#onLost.push(callback);
  }

  lead(lead: Lead): void {
    for (const callback of this.#onLead) this.#tell(callback, lead);
  }

  /** Resolves when all have settled. Never rejects. */
  async lost(because: string): Promise<void> {
    const settled = await Promise.allSettled(
      this.#onLost.map(async (callback) => callback(because)),
    );
    for (const result of settled) {
      if (result.status === 'rejected') this.#failed(result.reason);
    }
  }

  #tell(callback: LeadCallback, lead: Lead): void {
    try {
      callback(lead);
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    this.#log.error('A callback of leader election failed', error);
  }
}
