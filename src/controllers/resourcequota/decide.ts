/** What a quota's status must say: its limits as in the spec, and what is used of them. */
import { type Amounts, amountsOf } from '../../api/pod-resources.ts';
import { quantitiesEqual, quantityText } from '../../api/quantity.ts';
import type { ResourceQuota } from '../../api/types/index.ts';
import { sameAmounts } from './amounts.ts';

type Texts = Readonly<Record<string, string>>;

/** A status to be written, and why. */
export interface NewStatus {
  readonly hard: Texts;
  readonly used: Texts;
  readonly because: string;
}

/**
 * The status to write, undefined if it says so already. `measured` has what could be measured;
 * names without a measure keep what they had, names that are not limited any more go.
 */
export function decide(quota: ResourceQuota, measured: Amounts): NewStatus | undefined {
  const { spec, status } = quota;
  const hard = spec?.hard ?? {};
  const former = status?.used;
  const used: Record<string, string> = {};
  for (const name of Object.keys(hard)) {
    const quantity = measured.get(name);
    const text = quantity === undefined ? former?.[name] : quantityText(quantity);
    if (text !== undefined) used[name] = text;
  }
  const isDirty = status?.hard === undefined || former === undefined || !sameLimits(quota);
  if (!isDirty && sameAmounts(amountsOf(used), amountsOf(former))) return undefined;
  return { hard, used, because: reason(quota, used) };
}

/** True if the status repeats the limits of the spec. */
export function sameLimits({ spec, status }: ResourceQuota): boolean {
  const wanted = spec?.hard ?? {};
  const shown = status?.hard ?? {};
  const names = Object.keys(wanted);
  if (names.length !== Object.keys(shown).length) return false;
  return names.every((name) => {
    const text = shown[name];
    return text !== undefined && quantitiesEqual(wanted[name] ?? '', text);
  });
}

function reason(quota: ResourceQuota, used: Texts): string {
  if (!sameLimits(quota)) return 'the limits of the spec changed';
  const former = quota.status?.used ?? {};
  const changed = Object.keys(used).filter(
    (name) => former[name] === undefined || !quantitiesEqual(former[name], used[name] ?? ''),
  );
  const shown = changed.map((name) => `${name} ${former[name] ?? 'unknown'} -> ${used[name]}`);
  return shown.length === 0 ? 'names that are not limited any more go' : shown.join(', ');
}
