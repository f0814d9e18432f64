/** What an answer of the server means: an object, or an error in upstream's words. */
import { ApiError, TransportError } from '../api/errors.ts';
import { parseJson } from '../api/json.ts';
import type { Status } from '../api/types/index.ts';
import { ERROR_BODY_CHARS_MAX } from '../runtime/limits.ts';

/** An answer as far as its meaning goes. */
export interface Answer {
  readonly code: number;
  readonly headers: Headers;
  readonly text: string;
  /** An earlier attempt was answered 5xx. */
  readonly followsServerError?: boolean;
}

/** True for the codes that upstream's client takes as success. */
export function isSuccess(code: number): boolean {
  return code >= 200 && code <= 206;
}

/** The JSON of a good answer. Throws ApiError for a bad one, TransportError for half a body. */
export function decodeAnswer<T>(what: string, answer: Answer): T {
  if (!isSuccess(answer.code)) throw apiErrorOf(what, answer);
  try {
    return parseJson<T>(answer.text);
  } catch (error) {
    throw new TransportError(`${what}: the answer is not JSON: ${shown(answer.text, 80)}`, error);
  }
}

/** The error of an answer that is no success; from its Status if there is one. */
export function apiErrorOf(what: string, answer: Answer): ApiError {
  const retryAfter = retryAfterSeconds(answer.headers);
  const status = statusIn(answer.text);
  const message = status?.message ?? genericMessage(what, answer);
  const error = new ApiError(answer.code, message, status, retryAfter);
  error.followsServerError = answer.followsServerError ?? false;
  return error;
}

/** The error that an ERROR event of a watch stands for. */
export function apiErrorOfStatus(status: Status): ApiError {
  return new ApiError(status.code ?? 500, status.message ?? 'unknown error of a watch', status);
}

/** Whole seconds of the Retry-After header; upstream takes no dates. */
export function retryAfterSeconds(headers: Headers): number | undefined {
  const value = headers.get('retry-after');
  return value !== null && /^[+-]?\d+$/.test(value) ? Number(value) : undefined;
}

function statusIn(text: string): Status | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const value = parseJson<{ readonly kind?: unknown }>(text);
    return value.kind === 'Status' ? (value as Status) : undefined;
  } catch {
    // Not JSON after all: a page of something between us and the server.
    return undefined;
  }
}

const GENERIC: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  406: 'the server was unable to respond with a content type that the client supports',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504:
    'the server was unable to return a response in the time allotted, but may still be ' +
    'processing the request',
};

function genericMessage(what: string, answer: Answer): string {
  const { code, text } = answer;
  const body = shown(text, ERROR_BODY_CHARS_MAX);
  if (code === 403 && text !== '') return `${body} (${what})`;
  const known = GENERIC[code];
  if (known !== undefined) return `${known} (${what})`;
  if (code >= 500) {
    return `an error on the server (${body}) has prevented the request from succeeding (${what})`;
  }
  const bare = `the server responded with the status code ${code}`;
  return `${bare} but did not return more information (${what})`;
}

function shown(text: string, length: number): string {
  return JSON.stringify(text.trim().slice(0, length));
}
