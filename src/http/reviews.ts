/** Delegated authentication and authorization: TokenReview and SubjectAccessReview, as upstream asks. */
import { SUBJECT_ACCESS_REVIEWS, TOKEN_REVIEWS } from '../api/resource.ts';
import type { KubeObject } from '../api/types/index.ts';
import type { KubeClient } from '../kube/types.ts';
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

/** Reviews through the API server; a client that is undefined leaves that review out. */
export function createReviews(
  authentication: KubeClient | undefined,
  authorization: KubeClient | undefined,
): Reviews {
  return {
    ...(authentication === undefined ? {} : { reviewToken: tokenReviewer(authentication) }),
    ...(authorization === undefined ? {} : { reviewAccess: accessReviewer(authorization) }),
  };
}

function tokenReviewer(client: KubeClient): NonNullable<Reviews['reviewToken']> {
  return async (token, signal) => {
    const body = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token },
    };
    const review = await client.create<TokenReview>(TOKEN_REVIEWS, {}, body, { signal });
    const { status } = review;
    if (status?.authenticated !== true) return undefined;
    return {
      name: status.user?.username ?? '',
      uid: status.user?.uid ?? '',
      groups: status.user?.groups ?? [],
      extra: status.user?.extra ?? {},
    };
  };
}

function accessReviewer(client: KubeClient): NonNullable<Reviews['reviewAccess']> {
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
    const review = await client.create<SubjectAccessReview>(SUBJECT_ACCESS_REVIEWS, {}, body, {
      signal,
    });
    const { allowed = false, denied = false, reason = '' } = review.status ?? {};
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
