/** What a process under faults may not do: break inside, or ask for what the server refuses. */

/**
 * Words of faults in our own code, and of files used in a way that SQLite forbids. That a key was
 * given up is none: upstream gives it up as soon, and an event or the retry that waits brings it back.
 */
const BROKEN =
  /TypeError|ReferenceError|RangeError|SyntaxError|AssertionError|Unhandled|uncaught|constraint failed|Segmentation|panic/i;
/** Answers that tell of a wrong request. 403 is also what a server says that has just started. */
const WRONG = [400, 405, 406, 413, 415, 422];

interface Answered {
  readonly method: string;
  readonly path: string;
  readonly status?: number;
  readonly faulted: boolean;
}

/** Log lines and answers that no fault explains, each kind of answer once. */
export function unexpectedIn(log: string, seen: readonly Answered[]): string[] {
  const lines = log.split('\n').filter((line) => BROKEN.test(line));
  const answers = seen
    .filter(({ status, faulted }) => !faulted && WRONG.includes(status ?? 0))
    .map(({ method, path, status }) => `${status} for ${method} ${path.replace(/\?.*/, '')}`);
  return [...lines, ...new Set(answers)];
}
