/** Waiting for a state by looking at it, never by sleeping a guessed time. */

export interface EventuallyOptions {
  /** Default 30 s. */
  readonly timeoutMs?: number;
  /** Pause between two looks, default 100 ms. */
  readonly everyMs?: number;
  /** What is waited for, in words: the failure begins with it. */
  readonly describe?: string;
}

const TIMEOUT_MS = 30_000;
const EVERY_MS = 100;
const SHOWN_CHARACTERS = 4_000;

function show(value: unknown): string {
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return (text ?? String(value)).slice(0, SHOWN_CHARACTERS);
}

/**
 * Calls `look` until it gives a truthy value and returns that. Falsy values and errors mean "not
 * yet"; when the time is up the last of them is shown in the error. To have a rejected state
 * shown, throw it: `throw notYet(deployment.status)`.
 */
export async function eventually<T>(
  look: () => Promise<T> | T,
  options: EventuallyOptions = {},
): Promise<NonNullable<T>> {
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  const deadline = performance.now() + timeoutMs;
  let last: unknown;
  for (;;) {
    try {
      const value = await look();
      if (value) return value;
      last = value;
    } catch (error) {
      last = error;
    }
    if (performance.now() >= deadline) break;
    await Bun.sleep(options.everyMs ?? EVERY_MS);
  }
  const what = options.describe ?? 'the expected state';
  throw new Error(`${what}: not within ${timeoutMs} ms; last seen: ${show(last)}`, { cause: last });
}

/** An error that carries a state that is not yet the wanted one. */
export function notYet(state: unknown): Error {
  return new Error(`not yet: ${show(state)}`);
}

/**
 * Waits until `look` has given the same, compared as JSON, so many times in a row after the first,
 * and returns it.
 */
export async function atRest<T>(
  look: () => Promise<T> | T,
  options: EventuallyOptions & { readonly looks: number },
): Promise<NonNullable<T>> {
  let last = '';
  let same = 0;
  const settled = async (): Promise<T | undefined> => {
    const now = await look();
    const text = JSON.stringify(now);
    same = text === last ? same + 1 : 0;
    last = text;
    return same >= options.looks ? now : undefined;
  };
  return (await eventually(settled, { describe: 'nothing moves', ...options })) as NonNullable<T>;
}

/** Checks that `look` stays truthy for the whole time; fails at once when it is not. */
export async function always<T>(
  look: () => Promise<T> | T,
  options: { readonly forMs: number; readonly everyMs?: number; readonly describe?: string },
): Promise<void> {
  const deadline = performance.now() + options.forMs;
  do {
    const value = await look();
    if (!value) throw new Error(`${options.describe ?? 'the state'} did not last: ${show(value)}`);
    await Bun.sleep(options.everyMs ?? EVERY_MS);
  } while (performance.now() < deadline);
}
