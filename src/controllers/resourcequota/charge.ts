/** What one object costs a quota, and by which facts scopes choose it. */
import type { Amounts } from '../../api/pod-resources.ts';

/** Facts about an object that scopes of quotas ask for. */
export interface ScopeFacts {
  /** Of a pod; undefined for everything else. */
  readonly pod?: {
    readonly terminating: boolean;
    readonly bestEffort: boolean;
    /** "" for none. */
    readonly priorityClass: string;
    readonly crossNamespaceAffinity: boolean;
  };
  /** VolumeAttributesClasses that a claim names; undefined if that is no scope of the object. */
  readonly volumeAttributesClasses?: readonly string[];
}

/** An object's price. Objects that cost the same share one. */
export interface Charge {
  readonly amounts: Amounts;
  readonly facts: ScopeFacts;
  /** From this time on (ms) only `amountsAfter` counts; 0: never. */
  readonly until: number;
  readonly amountsAfter: Amounts;
}

const NOTHING: Amounts = new Map();

/** A price that does not change with time. */
export function chargeOf(amounts: Amounts, facts: ScopeFacts = {}): Charge {
  return { amounts, facts, until: 0, amountsAfter: NOTHING };
}

/** The price at this time, ms. */
export function amountsAt(charge: Charge, now: number): Amounts {
  return charge.until !== 0 && now > charge.until ? charge.amountsAfter : charge.amounts;
}

/** True if both cost and mean the same to every quota. */
export function sameCharge(a: Charge, b: Charge): boolean {
  return a === b || textOfCharge(a) === textOfCharge(b);
}

/** A text that only equal charges share. */
export function textOfCharge({ amounts, facts, until, amountsAfter }: Charge): string {
  const listed = (list: Amounts) =>
    [...list]
      .map(([name, { nanos, format }]) => `${name}=${nanos}${format}`)
      .sort()
      .join(' ');
  return [listed(amounts), JSON.stringify(facts), until, listed(amountsAfter)].join('|');
}
