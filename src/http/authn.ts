/**
 * Who asks: a trusted front proxy's headers, a client certificate, or a bearer token; the first
 * that succeeds decides. No credentials at all means anonymous; credentials that all fail mean
 * nobody.
 */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
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
export type Authenticate = (request: IncomingMessage) => Promise<User | undefined>;

/** Header values by lower-case name, one for each time the header was sent, never split. */
type Headers = ReadonlyMap<string, readonly string[]>;

/** Creates the chain of authenticators. */
export function createAuthenticator(deps: AuthenticatorDeps): Authenticate {
  const tokens = new TtlCache<User | false>(deps.clock, TOKEN_CACHE_ENTRIES_MAX);
  return async (request) => {
    const headers = headersOf(request);
    const chain = peerChain(request.socket as TLSSocket);
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
  headers: Headers,
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

function bearerToken(headers: Headers): string | undefined {
  const [authorization = ''] = headers.get('authorization') ?? [];
  const match = /^bearer +(\S+)$/i.exec(authorization);
  return match?.[1] ?? socketToken(headers);
}

/** A token offered as a websocket subprotocol, in base64url after a fixed prefix. */
function socketToken(headers: Headers): string | undefined {
  const prefix = 'base64url.bearer.authorization.k8s.io.';
  const offered = (headers.get('sec-websocket-protocol') ?? []).flatMap((text) => text.split(','));
  const found = offered.map((text) => text.trim()).find((text) => text.startsWith(prefix));
  if (found === undefined) return undefined;
  return Buffer.from(found.slice(prefix.length), 'base64url').toString('utf8');
}

function firstHeader(headers: Headers, names: readonly string[]): string | undefined {
  return allHeaders(headers, names).find((value) => value !== '');
}

function allHeaders(headers: Headers, names: readonly string[]): string[] {
  return names.flatMap((name) => headers.get(name.toLowerCase()) ?? []);
}

/** From the raw lines: Node joins repeated headers with commas, which names may hold as well. */
function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Map<string, string[]>();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    headers.set(name, [...(headers.get(name) ?? []), rawHeaders[at + 1] ?? '']);
  }
  return headers;
}

function extraHeaders(headers: Headers, prefixes: readonly string[]): Record<string, string[]> {
  const extra: Record<string, string[]> = {};
  for (const prefix of prefixes.map((text) => text.toLowerCase())) {
    for (const [name, values] of headers) {
      if (!name.startsWith(prefix)) continue;
      const key = decodeURIComponent(name.slice(prefix.length));
      extra[key] = [...(extra[key] ?? []), ...values];
    }
  }
  return extra;
}
