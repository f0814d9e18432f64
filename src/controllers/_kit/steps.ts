/**
 * Decisions that take several answers: a generator yields what it wants done and is handed what
 * came of it, or has the server's error thrown at it. It does no I/O itself: the same observation
 * and the same answers give the same actions.
 */
import { ApiError, TransportError } from '../../api/errors.ts';

/** Steps that ask for actions A, are handed answers R and end in a T. */
export type StepsOf<A, R, T> = Generator<A, T, R>;

/** Why steps can't go on, in words; the server's answer, if it is about one, is the cause. */
export class StepError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'StepError';
  }
}

/** True for errors that a decision may look at: the server's answers, and those put into words. */
export function isAnswer(error: unknown): error is ApiError | TransportError | StepError {
  return error instanceof ApiError || error instanceof TransportError || error instanceof StepError;
}

/** What lies behind an error that was put into words: an answer, the lost Lease, or itself. */
export function answerOf(error: unknown): unknown {
  const last = error instanceof ApiError || error instanceof TransportError;
  return !last && error instanceof Error && error.cause instanceof Error
    ? answerOf(error.cause)
    : error;
}

/**
 * The error of a port as one that steps may look at, its words kept. Throws what is no answer of
 * the server: the Lease is lost, or a mistake of our own.
 */
export function asAnswer(error: unknown): Error {
  if (isAnswer(error)) return error;
  const answer = answerOf(error);
  if (isAnswer(answer) && error instanceof Error) return new StepError(error.message, answer);
  throw answer;
}

/** How steps ended whose failure must not end what follows. */
export type OutcomeOf<T> =
  | { readonly value: T; readonly error?: undefined }
  | { readonly value?: undefined; readonly error: ApiError | TransportError | StepError };

/** Runs steps and gives their value or the server's error. Mistakes of our own are thrown on. */
export function* attempt<A, R, T>(steps: StepsOf<A, R, T>): StepsOf<A, R, OutcomeOf<T>> {
  try {
    return { value: yield* steps };
  } catch (error) {
    if (isAnswer(error)) return { error };
    throw error;
  }
}

/** One error for several, in upstream's words: alone as it is, together "[a, b]". */
export function together(errors: readonly Error[]): Error {
  const [first] = errors;
  if (first !== undefined && errors.length === 1) return first;
  const texts = [...new Set(errors.map(({ message }) => message))];
  return new StepError(texts.length === 1 ? texts.join('') : `[${texts.join(', ')}]`, first);
}

/**
 * Runs steps to their end. The server's answers, also refusals, go back to the steps; anything else
 * (the Lease is lost, the disk lost an object) ends them here.
 */
export async function carryOutSteps<A, R, T>(
  steps: StepsOf<A, R, T>,
  carryOut: (action: A) => Promise<R>,
): Promise<T> {
  let step = steps.next();
  while (!step.done) {
    let answer: R;
    try {
      answer = await carryOut(step.value);
    } catch (error) {
      if (!isAnswer(error)) throw error;
      step = steps.throw(error);
      continue;
    }
    step = steps.next(answer);
  }
  return step.value;
}
