/**
 * Announced creates and deletes whose outcome isn't known yet. They are committed before the call
 * is sent, so that a restarted process neither creates twice nor counts a victim as alive.
 */

import type { Clock, Timer } from './clock.ts';
import { INTENT_EXPIRY_MS } from './limits.ts';
import type { IntentRow, RowTable } from './ports.ts';
import { isOwnTerm, type OwnTerms } from './term.ts';

export interface IntentsDeps extends OwnTerms {
  readonly controller: string;
  readonly table: RowTable<IntentRow>;
  readonly clock: Clock;
  /** Ends the sweeping of what has expired. */
  readonly signal?: AbortSignal;
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
  /** Monotonic time after which an intent counts no more unless it is under way. */
  readonly #expiresAt = new Map<string, number>();
  /** Ids by what they are asked for: owner and slot, name, victim, owner. */
  readonly #ids = new Map<string, Set<string>>();
  /** Intents of this process under way: never handed out a second time. */
  readonly #inFlight = new Set<string>();
  /** Intents, as they were handed out, of which an earlier attempt may have been carried out. */
  readonly #doubted = new WeakSet<IntentRow>();
  #sweep: Timer | undefined;

  constructor(deps: IntentsDeps) {
    this.#deps = deps;
    for (const row of deps.table.all()) this.#adopt(row);
  }

  /**
   * An intent to create an object for this slot: one left open by an earlier attempt, with the name
   * it chose, or a new one with the name from `chooseName`.
   */
  announceCreate(slot: CreateSlot, chooseName: () => string): IntentRow {
    const left = this.#find(slotKey(slot)).find(({ id }) => !this.#inFlight.has(id));
    const row = left ?? this.#newRow({ ...slot, verb: 'create', name: chooseName(), uid: '' });
    return this.#send(row, left !== undefined);
  }

  /**
   * True if an earlier attempt may have done what this intent announces, also once the informer
   * has seen it. If not, an object of its name is another one: among thousands of siblings drawn
   * names do meet.
   */
  mayBeDone(row: IntentRow): boolean {
    return this.#doubted.has(row);
  }

  /** The attempt was answered, but had been sent before and may have been carried out then. */
  doubt(row: IntentRow): void {
    this.#doubted.add(row);
  }

  /** An intent to delete the object with this UID. */
  announceDelete(
    victim: { resource: string; namespace: string; name: string; uid: string },
    ownerUid: string,
  ): IntentRow {
    const [open] = this.#find(victimKey(victim.uid));
    const row = open ?? this.#newRow({ ...victim, ownerUid, slot: '', verb: 'delete' });
    return this.#send(row, open !== undefined);
  }

  /** The server decided, or the object was seen: the intent has served. */
  settle(row: IntentRow): void {
    this.#inFlight.delete(row.id);
    if (!this.#open.delete(row.id)) return;
    this.#expiresAt.delete(row.id);
    for (const key of keysOf(row)) {
      const ids = this.#ids.get(key);
      ids?.delete(row.id);
      if (ids?.size === 0) this.#ids.delete(key);
    }
    this.#deps.table.delete(row);
  }

  /** No definite answer: the intent stays open for the next attempt. */
  leaveOpen(row: IntentRow): void {
    this.#inFlight.delete(row.id);
  }

  /**
   * The server refused this attempt, or it was never made. What an earlier one did stays unknown:
   * then the intent stays open, otherwise it has served.
   */
  refused(row: IntentRow): void {
    if (this.mayBeDone(row)) this.leaveOpen(row);
    else this.settle(row);
  }

  /** An object was seen to exist: a create intent of that name is fulfilled. */
  created(resource: string, namespace: string, name: string): void {
    if (this.#open.size === 0) return;
    for (const row of this.#find(nameKey({ resource, namespace, name }))) this.settle(row);
  }

  /** An object was seen going or gone: a deletion intent of that UID is fulfilled. */
  gone(uid: string): void {
    if (this.#open.size === 0) return;
    for (const row of this.#find(victimKey(uid))) this.settle(row);
  }

  /** Deletions taken over whose victim a cache no longer holds are fulfilled: nobody will say so. */
  settleGone(holds: (row: IntentRow) => boolean): void {
    for (const row of this.list()) if (row.verb === 'delete' && !holds(row)) this.settle(row);
  }

  /** UIDs of this owner's objects that are announced to be deleted. */
  deleting(ownerUid: string): ReadonlySet<string> {
    return new Set(this.#find(deletionsKey(ownerUid)).map(({ uid }) => uid));
  }

  /** All open intents. */
  list(): readonly IntentRow[] {
    return [...this.#open.values()].filter((row) => this.#stillOpen(row));
  }

  #find(key: string): IntentRow[] {
    const found: IntentRow[] = [];
    for (const id of [...(this.#ids.get(key) ?? [])]) {
      const row = this.#open.get(id);
      if (row !== undefined && this.#stillOpen(row)) found.push(row);
    }
    return found;
  }

  /** An intent expires some time after it was last sent. */
  #stillOpen(row: IntentRow): boolean {
    const expiresAt = this.#expiresAt.get(row.id) ?? 0;
    if (this.#deps.clock.monotonic() <= expiresAt || this.#inFlight.has(row.id)) return true;
    this.settle(row);
    return false;
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

  #send(row: IntentRow, mayBeDone: boolean): IntentRow {
    const sent = { ...row, term: this.#deps.term, sentAt: this.#deps.clock.now() };
    this.#keep(sent, INTENT_EXPIRY_MS);
    this.#inFlight.add(sent.id);
    this.#deps.table.put(sent);
    if (mayBeDone) this.#doubted.add(sent);
    return sent;
  }

  #keep(row: IntentRow, expiresInMs: number): void {
    this.#open.set(row.id, row);
    this.#sweepLater();
    this.#expiresAt.set(row.id, this.#deps.clock.monotonic() + expiresInMs);
    for (const key of keysOf(row)) {
      const ids = this.#ids.get(key);
      if (ids === undefined) this.#ids.set(key, new Set([row.id]));
      else ids.add(row.id);
    }
  }

  /** Takes expired rows from the disk, also if nobody asks for them any more. */
  #sweepLater(): void {
    const { clock, signal } = this.#deps;
    if (this.#sweep !== undefined || signal === undefined) return;
    const sweep = (): void => {
      this.#sweep = undefined;
      if (signal.aborted) return;
      this.list();
      if (this.#open.size > 0) this.#sweepLater();
    };
    this.#sweep = clock.after(INTENT_EXPIRY_MS + 1, sweep, { background: true });
  }

  #adopt(row: IntentRow): void {
    const { controller, clock, table } = this.#deps;
    if (row.controller !== controller) return;
    // A wall clock that was set since says nothing of its age. To create under an old name does no
    // harm; a victim of long ago that lives must not count as going, and no wall prolongs that.
    const leftMs =
      row.verb === 'create'
        ? INTENT_EXPIRY_MS
        : Math.min(row.sentAt + INTENT_EXPIRY_MS - clock.now(), INTENT_EXPIRY_MS);
    if (!isOwnTerm(row.term, this.#deps) || leftMs <= 0) {
      table.delete(row);
      return;
    }
    this.#keep(row, leftMs);
  }
}

function keysOf(row: IntentRow): string[] {
  if (row.verb === 'create') return [slotKey(row), nameKey(row)];
  return [victimKey(row.uid), deletionsKey(row.ownerUid)];
}

function slotKey({ ownerUid, slot, resource, namespace }: CreateSlot): string {
  return `slot ${ownerUid} ${resource} ${namespace} ${slot}`;
}

function nameKey(at: { resource: string; namespace: string; name: string }): string {
  return `name ${at.resource} ${at.namespace} ${at.name}`;
}

function victimKey(uid: string): string {
  return `victim ${uid}`;
}

function deletionsKey(ownerUid: string): string {
  return `deletions ${ownerUid}`;
}
