/** Answers without a Status, in the words of upstream's client: it names the resource, not a path. */
import { ApiError } from '../../../api/errors.ts';

/** At the end of the message that our client gives such an answer. */
const PATH = / \(GET \/[^)]*\)$/;

/**
 * The same error, or for an answer of a read that was no Status one whose message ends in
 * `(get ABOUT)`, e.g. `(get pods.metrics.k8s.io)`.
 */
export function inUpstreamWords(error: unknown, about: string): unknown {
  if (!(error instanceof ApiError) || error.status !== undefined) return error;
  const message = error.message.replace(PATH, ` (get ${about})`);
  return new ApiError(error.code, message, undefined, error.retryAfterSeconds);
}

/** The message of an error as Go's %v shows it. */
export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
