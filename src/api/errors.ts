/** Answers of the API server that are errors, and how to tell them apart. */
import type { Status } from './types/index.ts';

/** A definite answer of the API server other than success. */
export class ApiError extends Error {
  /** HTTP status code. */
  readonly code: number;
  /** Kubernetes reason, e.g. "AlreadyExists"; "" if the body was no Status. */
  readonly reason: string;
  readonly status: Status | undefined;
  /** Seconds the server asked us to wait, from the header or the Status details. */
  readonly retryAfterSeconds: number | undefined;
  /** The request was sent before and answered 5xx: that attempt may have been carried out. */
  followsServerError = false;

  constructor(code: number, message: string, status?: Status, retryAfterSeconds?: number) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.reason = status?.reason ?? '';
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds ?? status?.details?.retryAfterSeconds;
  }
}

/** No definite answer: connection refused or reset, time-out, cut or half a body. */
export class TransportError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'TransportError';
  }
}

/** A write that was not sent, or was cut off, because this process may no longer write. */
export class FencedError extends Error {
  constructor(message = 'not the leader any more: the write was not sent') {
    super(message);
    this.name = 'FencedError';
  }
}

function hasReason(error: unknown, code: number, reason: string): boolean {
  return (
    error instanceof ApiError &&
    (error.reason === reason || (error.reason === '' && error.code === code))
  );
}

/** 404: the object (or the resource) is not there. */
export function isNotFound(error: unknown): boolean {
  return hasReason(error, 404, 'NotFound');
}

/** 409 on create: the name is taken. */
export function isAlreadyExists(error: unknown): boolean {
  return error instanceof ApiError && error.reason === 'AlreadyExists';
}

/** 409 on update: another version is stored, or a precondition failed. */
export function isConflict(error: unknown): boolean {
  return error instanceof ApiError && error.code === 409 && error.reason !== 'AlreadyExists';
}

/** 410 or reason Expired/Gone: the asked resourceVersion is no longer served. */
export function isExpired(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 410 || error.reason === 'Expired');
}

/** 422: the object was refused by validation. */
export function isInvalid(error: unknown): boolean {
  return hasReason(error, 422, 'Invalid');
}

/** 422 because a patch named another UID than the stored object has: the object meant is gone. */
export function isOtherObject(error: unknown): boolean {
  if (!(error instanceof ApiError) || !isInvalid(error)) return false;
  return (error.status?.details?.causes ?? []).some(({ field }) => field === 'metadata.uid');
}

/** 403 with cause NamespaceTerminating: nothing can be created in that namespace any more. */
export function isNamespaceTerminating(error: unknown): boolean {
  return (
    error instanceof ApiError &&
    (error.status?.details?.causes ?? []).some((cause) => cause.reason === 'NamespaceTerminating')
  );
}

/** An earlier attempt of the same request was answered 5xx, and may have been carried out. */
export function followsServerError(error: unknown): boolean {
  return error instanceof ApiError && error.followsServerError;
}

/** True if the server has decided about the request, so it will not take effect later. */
export function isDefiniteAnswer(error: unknown): boolean {
  return (
    error instanceof ApiError &&
    [400, 401, 403, 404, 405, 409, 410, 413, 415, 422].includes(error.code)
  );
}
