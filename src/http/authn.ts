/**
 * Who asks: a trusted front proxy's headers, a client certificate, or a bearer token; the first
 * that succeeds decides. No credentials at all means anonymous; credentials that all fail mean
 * nobody.
 */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../runtime/clock.ts';
import { TOKEN_CACHE_ENTRIES_MAX, TOKEN_REVIEW_TIMEOUT_MS } from '../runtime/limits.ts';
import type { Logger } from '../runtime/log.ts';
import { ANONYMOUS, type RequestHeaderOptions, type Reviews, type User } from './options.ts';
import { authenticated } from './reviews.ts';
import { type Authorities, peerChain, userOf } from './trust.ts';
import { TtlCache } from './ttl-cache.ts';

export interface AuthenticatorDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly reviews: Reviews;
  /** Read at each request: files and the ConfigMap may change. */
  clientAuthorities(): Authorities;
  proxyAuthorities(): Authorities;
  requestHeader(): RequestHeaderOptions;
  readonly tokenCacheTtlMs: number;
}

/** The user, or undefined if credentials were given and none was good. */
export type Authenticate = (
  headers: IncomingHttpHeaders,
  socket: TLSSocket,
) => Promise<User | undefined>;

/** Creates the chain of authenticators. */
export function createAuthenticator(deps: AuthenticatorDeps): Authenticate {
  const tokens = new TtlCache<User | false>(deps.clock, TOKEN_CACHE_ENTRIES_MAX);
  return async (headers, socket) => {
    const chain = peerChain(socket);
    const now = deps.clock.now();
    const proxied = byProxy(deps, headers, chain, now);
    if (proxied !== undefined) return authenticated(proxied);
    const leaf = chain[0];
    if (leaf !== undefined && deps.clientAuthorities().vouchFor(chain, now)) {
      return authenticated(userOf(leaf));
    }
    const token = bearerToken(headers);
    if (token !== undefined && deps.reviews.reviewToken !== undefined) {
      const user = await byToken(deps, tokens, token);
      return user === undefined ? undefined : authenticated(user);
    }
    return leaf === undefined || deps.clientAuthorities().empty ? ANONYMOUS : undefined;
  };
}

function byProxy(
  deps: AuthenticatorDeps,
  headers: IncomingHttpHeaders,
  chain: Parameters<Authorities['vouchFor']>[0],
  now: number,
): User | undefined {
  const options = deps.requestHeader();
  const name = firstHeader(headers, options.usernameHeaders);
  const leaf = chain[0];
  if (name === undefined || leaf === undefined) return undefined;
  if (!deps.proxyAuthorities().vouchFor(chain, now)) return undefined;
  const proxy = userOf(leaf).name;
  if (options.allowedNames.length > 0 && !options.allowedNames.includes(proxy)) return undefined;
  return {
    name,
    groups: allHeaders(headers, options.groupHeaders),
    uid: firstHeader(headers, options.uidHeaders) ?? '',
    extra: extraHeaders(headers, options.extraHeaderPrefixes),
  };
}

async function byToken(
  deps: AuthenticatorDeps,
  cache: TtlCache<User | false>,
  token: string,
): Promise<User | undefined> {
  const key = createHash('sha256').update(token).digest('base64');
  const cached = cache.get(key);
  if (cached !== undefined) return cached === false ? undefined : cached;
  try {
    const signal = AbortSignal.timeout(TOKEN_REVIEW_TIMEOUT_MS);
    const user = await deps.reviews.reviewToken?.(token, signal);
    cache.set(key, user ?? false, deps.tokenCacheTtlMs);
    return user;
  } catch (error) {
    deps.log.error('Unable to authenticate the request', error);
    return undefined;
  }
}

function bearerToken(headers: IncomingHttpHeaders): string | undefined {
  const match = /^bearer +(\S+)$/i.exec(headers.authorization ?? '');
  return match?.[1] ?? socketToken(headers);
}

/** A token offered as a websocket subprotocol, in base64url after a fixed prefix. */
function socketToken(headers: IncomingHttpHeaders): string | undefined {
  const prefix = 'base64url.bearer.authorization.k8s.io.';
  const offered = String(headers['sec-websocket-protocol'] ?? '').split(',');
  const found = offered.map((text) => text.trim()).find((text) => text.startsWith(prefix));
  if (found === undefined) return undefined;
  return Buffer.from(found.slice(prefix.length), 'base64url').toString('utf8');
}

function firstHeader(headers: IncomingHttpHeaders, names: readonly string[]): string | undefined {
  return allHeaders(headers, names).find((value) => value !== '');
}

function allHeaders(headers: IncomingHttpHeaders, names: readonly string[]): string[] {
  return names.flatMap((name) => valuesOf(headers[name.toLowerCase()]));
}

function valuesOf(header: string | string[] | undefined): string[] {
  if (header === undefined) return [];
  const texts = Array.isArray(header) ? header : [header];
  return texts.flatMap((text) => text.split(',').map((part) => part.trim()));
}

function extraHeaders(
  headers: IncomingHttpHeaders,
  prefixes: readonly string[],
): Record<string, string[]> {
  const extra: Record<string, string[]> = {};
  for (const prefix of prefixes.map((text) => text.toLowerCase())) {
    for (const [name, value] of Object.entries(headers)) {
      if (!name.startsWith(prefix)) continue;
      const key = decodeURIComponent(name.slice(prefix.length));
      extra[key] = [...(extra[key] ?? []), ...valuesOf(value)];
    }
  }
  return extra;
}
