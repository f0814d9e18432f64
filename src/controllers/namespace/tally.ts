/** The tally of one pass over a namespace: what failed, what is left, how long it may take. */
import { ApiError, TransportError } from '../../api/errors.ts';
import type { DiscoveryResult, ServedResource } from '../../runtime/controller.ts';
import type { Findings } from './conditions.ts';
import { UnexpectedItemsError } from './content.ts';
import { deletableKinds, PartialDiscoveryError } from './kinds.ts';
import type { Remainder } from './remaining.ts';

/** Asks the API server what it serves. */
export type Discover = () => Promise<DiscoveryResult>;

/** What a pass has come across so far. */
export class Tally {
  estimateSeconds = 0;
  readonly #remaining = new Map<string, number>();
  readonly #finalizers = new Map<string, number>();
  readonly #deletion: string[] = [];
  readonly #failures: Error[] = [];
  #discovery: string | undefined;

  /** True if an object of any kind so far is left. */
  get somethingLeft(): boolean {
    return this.#remaining.size > 0;
  }

  /** Kinds to delete. Failing discovery is noted, and what is known is deleted all the same. */
  async discovered(discover: Discover): Promise<readonly ServedResource[]> {
    let result: DiscoveryResult;
    try {
      result = await discover();
    } catch (error) {
      const failure = asFailure(error);
      this.#failures.push(failure);
      this.#discovery = failure.message;
      return [];
    }
    if (result.failed.size > 0) {
      const failure = new PartialDiscoveryError(result.failed);
      this.#failures.push(failure);
      const many = `Discovery failed for some groups, ${failure.groups} failing`;
      this.#discovery = `${many}: ${failure.message}`;
    }
    return deletableKinds(result);
  }

  /** Takes the outcome of one kind; `wrap` makes of an error's text what the pass throws. */
  deleted(
    kind: ServedResource,
    remainder: Remainder,
    error: unknown,
    wrap: (text: string) => string,
  ): void {
    if (error !== undefined) {
      const failure = asFailure(error);
      this.#deletion.push(failure.message);
      const text = wrap(failure.message);
      this.#failures.push(text === failure.message ? failure : new Error(text, { cause: failure }));
    }
    this.estimateSeconds = Math.max(this.estimateSeconds, remainder.estimateSeconds);
    if (remainder.count === 0) return;
    this.#remaining.set(`${kind.plural}.${kind.group}`, remainder.count);
    for (const [finalizer, count] of remainder.finalizers) {
      this.#finalizers.set(finalizer, (this.#finalizers.get(finalizer) ?? 0) + count);
    }
  }

  /** While pods hold everything else back, what remains is not told. */
  findings(podsLeft: boolean): Findings {
    return {
      discovery: this.#discovery,
      deletion: this.#deletion,
      remaining: podsLeft ? new Map() : this.#remaining,
      finalizers: podsLeft ? new Map() : this.#finalizers,
    };
  }

  /** Throws what failed: one error as it is, several together. */
  throwFailures(): void {
    const [first, ...others] = this.#failures;
    if (first === undefined) return;
    if (others.length === 0) throw first;
    const texts = [...new Set(this.#failures.map(({ message }) => message))];
    throw new AggregateError(this.#failures, `[${texts.join(', ')}]`);
  }
}

/** What a pass survives: the server's failures and unexpected items. All else ends it at once. */
export function asFailure(error: unknown): Error {
  if (error instanceof ApiError || error instanceof TransportError) return error;
  if (error instanceof UnexpectedItemsError) return error;
  throw error;
}
