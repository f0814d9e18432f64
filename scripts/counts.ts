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

const VERDICT = /^\((pass|fail|skip|todo)\) /;
/** Of each failure, from its message on. */
const FAILURE_LINES_MAX = 30;

/** What `bun test` printed about each failed test: the test's line, then the error, shortened. */
export function failuresOf(output: string): string[] {
  const failures: string[] = [];
  let since: string[] = [];
  for (const line of output.split('\n')) {
    if (!VERDICT.test(line)) {
      since.push(line);
      continue;
    }
    const from = since.findIndex((one) => one.startsWith('error: '));
    // Failed tests are listed again at the end, where no error stands before them.
    if (line.startsWith('(fail)') && from !== -1) {
      const told = since.slice(from).filter((one) => one.trim() !== '');
      failures.push([line, ...told.slice(0, FAILURE_LINES_MAX)].join('\n'));
    }
    since = [];
  }
  return failures;
}
