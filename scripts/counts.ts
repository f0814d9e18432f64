/** Reading the counts of `bun test`. */

/** Tests that passed and failed; errors outside of tests count as failed. */
export interface Counts {
  passed: number;
  failed: number;
}

/** Adds up the lines in which `bun test` counts: " 12 pass", " 1 fail", " 1 error". */
export function countsOf(output: string): Counts {
  const sum = (word: string): number => {
    const lines = output.matchAll(new RegExp(`^ *(\\d+) ${word}s?$`, 'gm'));
    return [...lines].reduce((total, [, digits]) => total + Number(digits), 0);
  };
  return { passed: sum('pass'), failed: sum('fail') + sum('error') };
}
