/** Delegated authentication and authorization: TokenReview and SubjectAccessReview, as upstream asks. */
import { ApiError, TransportError } from '../api/errors.ts';
import { SUBJECT_ACCESS_REVIEWS, TOKEN_REVIEWS } from '../api/resource.ts';
import type { KubeObject } from '../api/types/index.ts';
import type { KubeClient } from '../kube/types.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import { type AccessAnswer, ANONYMOUS, type Reviews, type User } from './options.ts';

interface TokenReview extends KubeObject {
  readonly status?: {
    readonly authenticated?: boolean;
    readonly error?: string;
    readonly user?: {
      readonly username?: string;
      readonly uid?: string;
      readonly groups?: readonly string[];
      readonly extra?: Readonly<Record<string, readonly string[]>>;
    };
  };
}

interface SubjectAccessReview extends KubeObject {
  readonly status?: {
    readonly allowed: boolean;
    readonly denied?: boolean;
    readonly reason?: string;
    readonly evaluationError?: string;
  };
}

/** Through whom the API server is asked; a client that is absent leaves that review out. */
export interface ReviewDeps {
  readonly authentication?: Pick<KubeClient, 'create'> | undefined;
  readonly authorization?: Pick<KubeClient, 'create'> | undefined;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly random: Pick<Random, 'next'>;
}

/** Reviews through the API server; as upstream's, they are tried five times if that may help. */
export function createReviews(deps: ReviewDeps): Reviews {
  const { authentication, authorization } = deps;
  return {
    ...(authentication === undefined ? {} : { reviewToken: tokenReviewer(authentication, deps) }),
    ...(authorization === undefined ? {} : { reviewAccess: accessReviewer(authorization, deps) }),
  };
}

const TRIES = 5;
const FIRST_WAIT_MS = 500;
const WAIT_FACTOR = 1.5;
const WAIT_JITTER = 0.2;
/** Too many requests, an error of the server, and its own time-out. */
const PASSING_CODES = [429, 500, 504];

async function persistently<T>(
  { clock, random }: Pick<ReviewDeps, 'clock' | 'random'>,
  signal: AbortSignal,
  ask: () => Promise<T>,
): Promise<T> {
  let waitMs = FIRST_WAIT_MS;
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (tries >= TRIES || signal.aborted || !mayPass(error)) throw error;
    }
    await clock.sleep(waitMs * (1 + WAIT_JITTER * random.next()), signal);
    waitMs *= WAIT_FACTOR;
  }
}

/** A review changes nothing, so one whose connection was reset may be sent again. */
function mayPass(error: unknown): boolean {
  if (error instanceof ApiError) {
    return PASSING_CODES.includes(error.code) || error.retryAfterSeconds !== undefined;
  }
  const cause: unknown = error instanceof TransportError ? error.cause : undefined;
  return (cause as { readonly code?: unknown } | undefined)?.code === 'ECONNRESET';
}

type Client = Pick<KubeClient, 'create'>;

function tokenReviewer(client: Client, deps: ReviewDeps): NonNullable<Reviews['reviewToken']> {
  return async (token, signal) => {
    const body = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token },
    };
    const ask = () => client.create<TokenReview>(TOKEN_REVIEWS, {}, body, { signal });
    const { status } = await persistently(deps, signal, ask);
    if (status?.authenticated !== true) return undefined;
    return {
      name: status.user?.username ?? '',
      uid: status.user?.uid ?? '',
      groups: status.user?.groups ?? [],
      extra: status.user?.extra ?? {},
    };
  };
}

function accessReviewer(client: Client, deps: ReviewDeps): NonNullable<Reviews['reviewAccess']> {
  return async (user, verb, path, signal): Promise<AccessAnswer> => {
    const body = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: {
        user: user.name,
        groups: user.groups,
        uid: user.uid,
        extra: user.extra,
        nonResourceAttributes: { path, verb },
      },
    };
    const ask = () =>
      client.create<SubjectAccessReview>(SUBJECT_ACCESS_REVIEWS, {}, body, { signal });
    const { status } = await persistently(deps, signal, ask);
    const { allowed = false, denied = false, reason = '' } = status ?? {};
    if (allowed && denied) {
      throw new Error('webhook subject access review returned both allow and deny response');
    }
    return { allowed, denied, reason };
  };
}

/** A user with the group that every authenticated one is in, unless it is anonymous after all. */
export function authenticated(user: User): User {
  const group = 'system:authenticated';
  const isSaid = [group, ...ANONYMOUS.groups].some((one) => user.groups.includes(one));
  if (isSaid || user.name === ANONYMOUS.name) return user;
  return { ...user, groups: [...user.groups, group] };
}
