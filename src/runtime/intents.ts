/**
 * Announced creates and deletes whose outcome isn't known yet. They are committed before the call is
 * sent, so that a restarted process neither creates twice nor counts a victim as alive.
 */

import type { Clock } from './clock.ts';
import { INTENT_EXPIRY_MS } from './limits.ts';
import type { IntentRow, RowTable } from './ports.ts';

export interface IntentsDeps {
  readonly controller: string;
  readonly table: RowTable<IntentRow>;
  readonly clock: Clock;
  readonly term: number;
  /** Makes ids that no other process makes. */
  newId(): string;
}

export interface CreateSlot {
  readonly ownerUid: string;
  readonly slot: string;
  readonly resource: string;
  readonly namespace: string;
}

/** The open intents of one controller. */
export class Intents {
  readonly #deps: IntentsDeps;
  readonly #open = new Map<string, IntentRow>();
  /** Intents of this process under way: never handed out a second time. */
  readonly #inFlight = new Set<string>();

  constructor(deps: IntentsDeps) {
    this.#deps = deps;
    for (const row of deps.table.all()) this.#adopt(row);
  }

  /**
   * An intent to create an object for this slot: one left open by an earlier attempt, with the name
   * it chose, or a new one with the name from `chooseName`.
   */
  announceCreate(slot: CreateSlot, chooseName: () => string): IntentRow {
    const left = this.#leftOpen(slot);
    const row = left ?? this.#newRow({ ...slot, verb: 'create', name: chooseName(), uid: '' });
    return this.#send(row);
  }

  /** An intent to delete the object with this UID. */
  announceDelete(
    victim: { resource: string; namespace: string; name: string; uid: string },
    ownerUid: string,
  ): IntentRow {
    const open = [...this.#open.values()].find(
      (row) => row.verb === 'delete' && row.uid === victim.uid,
    );
    const row = open ?? this.#newRow({ ...victim, ownerUid, slot: '', verb: 'delete' });
    return this.#send(row);
  }

  /** The server decided, or the object was seen: the intent has served. */
  settle(row: IntentRow): void {
    this.#inFlight.delete(row.id);
    if (this.#open.delete(row.id)) this.#deps.table.delete(row);
  }

  /** No definite answer: the intent stays open for the next attempt. */
  leaveOpen(row: IntentRow): void {
    this.#inFlight.delete(row.id);
  }

  /** An object was seen to exist: a create intent of that name is fulfilled. */
  created(resource: string, namespace: string, name: string): void {
    for (const row of this.#open.values()) {
      const same = row.resource === resource && row.namespace === namespace && row.name === name;
      if (same && row.verb === 'create' && !this.#inFlight.has(row.id)) this.settle(row);
    }
  }

  /** An object was seen going or gone: a deletion intent of that UID is fulfilled. */
  gone(uid: string): void {
    for (const row of this.#open.values()) {
      if (row.verb === 'delete' && row.uid === uid) this.settle(row);
    }
  }

  /** The owner is gone: nobody will ask for its intents again. */
  ownerGone(ownerUid: string): void {
    for (const row of this.#open.values()) if (row.ownerUid === ownerUid) this.settle(row);
  }

  /** UIDs of this owner's objects that are announced to be deleted. */
  deleting(ownerUid: string): ReadonlySet<string> {
    const uids = new Set<string>();
    for (const row of this.#live()) {
      if (row.verb === 'delete' && row.ownerUid === ownerUid) uids.add(row.uid);
    }
    return uids;
  }

  list(): readonly IntentRow[] {
    return this.#live();
  }

  #leftOpen(slot: CreateSlot): IntentRow | undefined {
    return this.#live().find(
      (row) =>
        row.verb === 'create' &&
        row.ownerUid === slot.ownerUid &&
        row.slot === slot.slot &&
        row.resource === slot.resource &&
        row.namespace === slot.namespace &&
        !this.#inFlight.has(row.id),
    );
  }

  #live(): IntentRow[] {
    const oldest = this.#deps.clock.now() - INTENT_EXPIRY_MS;
    for (const row of this.#open.values()) {
      if (row.sentAt < oldest && !this.#inFlight.has(row.id)) this.settle(row);
    }
    return [...this.#open.values()];
  }

  #newRow(fields: Omit<IntentRow, 'id' | 'controller' | 'term' | 'sentAt'>): IntentRow {
    const { resource, namespace, name, uid, ownerUid, slot, verb } = fields;
    const { controller, term } = this.#deps;
    const id = this.#deps.newId();
    return {
      id,
      controller,
      verb,
      ownerUid,
      slot,
      resource,
      namespace,
      name,
      uid,
      term,
      sentAt: 0,
    };
  }

  #send(row: IntentRow): IntentRow {
    const sent = { ...row, term: this.#deps.term, sentAt: this.#deps.clock.now() };
    this.#open.set(sent.id, sent);
    this.#inFlight.add(sent.id);
    this.#deps.table.put(sent);
    return sent;
  }

  #adopt(row: IntentRow): void {
    if (row.controller !== this.#deps.controller) return;
    const adjacent = this.#deps.term - row.term <= 1;
    if (adjacent && row.sentAt > this.#deps.clock.now() - INTENT_EXPIRY_MS) {
      this.#open.set(row.id, row);
    } else {
      this.#deps.table.delete(row);
    }
  }
}
