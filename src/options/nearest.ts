/** "Did you mean": the known name that a mistyped one is closest to. */

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [i, left] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, right] of [...b].entries()) {
      const change = (row[j] ?? 0) + (left === right ? 0 : 1);
      next.push(Math.min(change, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** The closest of `names` to `wrong` in any case: fewest letters to change, the first of equals. */
export function nearestName(wrong: string, names: Iterable<string>): string {
  let best = '';
  let least = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const steps = distance(wrong.toLowerCase(), name.toLowerCase());
    if (steps < least) [best, least] = [name, steps];
  }
  return best;
}
