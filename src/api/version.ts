/** Resource versions: decimal strings of any length, comparable within one resource. */

const WELL_FORMED = /^[1-9][0-9]*$/;

/** True for a positive decimal integer without leading zeros ("0" means "any", not a version). */
export function isVersion(text: string): boolean {
  return WELL_FORMED.test(text);
}

/**
 * Below 0, 0 or above 0 as `a` is older than, the same as, or newer than `b`: by length, then by
 * text, so no digit is lost. Both must be versions of the same resource; "" is older than any.
 * Whether a text from outside is a version at all is `isVersion`'s question.
 */
export function compareVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
