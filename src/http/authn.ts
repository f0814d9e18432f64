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
import { type Authorities, commonName, peerChain, userOf } from './trust.ts';
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
    const shown = [byProxy(deps, headers, chain, now), byCertificate(deps, chain, now)];
    const named = shown.find((answer) => typeof answer === 'object');
    if (named !== undefined) return authenticated(named);
    const token = bearerToken(headers);
    if (token !== undefined && deps.reviews.reviewToken !== undefined) {
      const user = await byToken(deps, tokens, token);
      return user === undefined ? undefined : authenticated(user);
    }
    return shown.includes('bad') ? undefined : ANONYMOUS;
  };
}

/** A user; nobody, which is no fault; or credentials that are no good. */
type Answer = User | 'nobody' | 'bad';
type Chain = Parameters<Authorities['vouchFor']>[0];

function byProxy(deps: AuthenticatorDeps, headers: Headers, chain: Chain, now: number): Answer {
  const options = deps.requestHeader();
  const authorities = deps.proxyAuthorities();
  const leaf = chain[0];
  if (leaf === undefined || authorities.empty) return 'nobody';
  if (!authorities.vouchFor(chain, now)) return 'bad';
  const { allowedNames } = options;
  if (allowedNames.length > 0 && !allowedNames.includes(commonName(leaf))) return 'bad';
  const name = firstHeader(headers, options.usernameHeaders);
  if (name === undefined) return 'nobody';
  return {
    name,
    groups: allHeaders(headers, options.groupHeaders).filter((value) => value !== ''),
    uid: firstHeader(headers, options.uidHeaders) ?? '',
    extra: extraHeaders(headers, options.extraHeaderPrefixes),
  };
}

function byCertificate(deps: AuthenticatorDeps, chain: Chain, now: number): Answer {
  const authorities = deps.clientAuthorities();
  const leaf = chain[0];
  if (leaf === undefined || authorities.empty) return 'nobody';
  if (!authorities.vouchFor(chain, now)) return 'bad';
  // As upstream: one without a common name is nobody, whatever groups it names.
  if (commonName(leaf) === '') return 'nobody';
  return userOf(leaf) ?? 'bad';
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

/** As upstream reads it: what stands between the first two blanks; nothing there is no token. */
function bearerToken(headers: Headers): string | undefined {
  const [authorization = ''] = headers.get('authorization') ?? [];
  const [scheme = '', token = ''] = authorization.trim().split(' ');
  return scheme.toLowerCase() === 'bearer' && token !== '' ? token : socketToken(headers);
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
      const key = unescaped(name.slice(prefix.length));
      extra[key] = [...(extra[key] ?? []), ...values];
    }
  }
  return extra;
}

/** One that is not escaped as it should be counts as it is. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
