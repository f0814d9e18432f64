/** Who may: system:masters, then paths that are open to everyone, then what the API server says. */
import type { Clock } from '../runtime/clock.ts';
import { ACCESS_CACHE_ENTRIES_MAX, ACCESS_REVIEW_TIMEOUT_MS } from '../runtime/limits.ts';
import type { AccessAnswer, Reviews, User } from './options.ts';
import { TtlCache } from './ttl-cache.ts';

export interface AuthorizerDeps {
  readonly clock: Clock;
  readonly reviews: Reviews;
  /** Exact paths; a trailing "*" makes a prefix. */
  readonly alwaysAllowPaths: readonly string[];
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
}

/** Decides about one request. Throws if the API server can't be asked. */
export type Authorize = (user: User, verb: string, path: string) => Promise<AccessAnswer>;

/** Creates the chain of authorizers. */
export function createAuthorizer(deps: AuthorizerDeps): Authorize {
  const cache = new TtlCache<AccessAnswer>(deps.clock, ACCESS_CACHE_ENTRIES_MAX);
  return async (user, verb, path) => {
    if (user.groups.includes('system:masters')) return { allowed: true, reason: '' };
    if (deps.alwaysAllowPaths.some((open) => matches(open, path))) {
      return { allowed: true, reason: '' };
    }
    if (deps.reviews.reviewAccess === undefined) return { allowed: false, reason: '' };
    const key = JSON.stringify([user, verb, path]);
    const cached = cache.get(key);
    if (cached !== undefined) return cached;
    const signal = AbortSignal.timeout(ACCESS_REVIEW_TIMEOUT_MS);
    const answer = await deps.reviews.reviewAccess(user, verb, path, signal);
    cache.set(key, answer, answer.allowed ? deps.authorizedTtlMs : deps.unauthorizedTtlMs);
    return answer;
  };
}

function matches(open: string, path: string): boolean {
  const wanted = open.startsWith('/') ? open : `/${open}`;
  return wanted.endsWith('*') ? path.startsWith(wanted.slice(0, -1)) : path === wanted;
}
