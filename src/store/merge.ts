/** Merging pending changes into rows that come from the disk in key order. */

const BEYOND_BASIC_PLANE = /[\ud800-\udfff]/;

/** Order of keys as SQLite sorts text: by UTF-8 bytes, which differs from UTF-16 for rare signs. */
export function compareKeys(a: string, b: string): number {
  if (BEYOND_BASIC_PLANE.test(a) || BEYOND_BASIC_PLANE.test(b)) {
    return Buffer.compare(Buffer.from(a), Buffer.from(b));
  }
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * The rows of both in key order. A pending entry replaces the row of the same key; an undefined one
 * hides it. Both inputs must be in key order.
 */
export function* mergeByKey<Row extends { readonly key: string }>(
  stored: Iterable<Row>,
  pending: readonly (readonly [string, Row | undefined])[],
): Iterable<Row> {
  let next = 0;
  for (const row of stored) {
    let replaced = false;
    for (; next < pending.length; next++) {
      const entry = pending[next];
      if (entry === undefined) break;
      const order = compareKeys(entry[0], row.key);
      if (order > 0) break;
      if (order === 0) replaced = true;
      if (entry[1] !== undefined) yield entry[1];
    }
    if (!replaced) yield row;
  }
  for (const [, row] of pending.slice(next)) {
    if (row !== undefined) yield row;
  }
}
