/** The map under /flagz: every flag by name, with its effective value as text. */
import type { FlagValues } from './values.ts';

/** Flag name (with dashes) to its value, sorted by name; our own flags included. */
export function flagzMap(values: FlagValues): Readonly<Record<string, string>> {
  return Object.freeze(
    Object.fromEntries(values.effective().map(({ name, value }) => [name, value])),
  );
}
