/** HTTPS serving: health, metrics, configuration and state, behind delegated access control. */
import { X509Certificate } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import { getRequestListener } from '@hono/node-server';
import type { Timer } from '../runtime/clock.ts';
import { CERTIFICATE_RELOAD_INTERVAL_MS } from '../runtime/limits.ts';
import { type AppDeps, createApp } from './app.ts';
import { createAuthenticator } from './authn.ts';
import { createAuthorizer } from './authz.ts';
import { Bundle } from './bundle.ts';
import { opensslCipher } from './ciphers.ts';
import { listen } from './listen.ts';
import type { NamedPair, RequestHeaderOptions, Reviews, ServeOptions } from './options.ts';
import { readPair, ServingCertificate } from './serving-cert.ts';
import { Authorities } from './trust.ts';

export type { RequestHeaderOptions, Reviews, ServeOptions } from './options.ts';
export { createReviews } from './reviews.ts';

export type ServeDeps = Omit<AppDeps, 'authenticate' | 'authorize' | 'profiling'> & {
  readonly reviews: Reviews;
};

/** Authorities and header names that the cluster publishes for delegated authentication. */
export interface PublishedTrust {
  readonly clientCaPem: string;
  readonly requestHeaderCaPem: string;
  readonly requestHeader: Omit<RequestHeaderOptions, 'caFile'>;
}

/** A server that listens. */
export interface Serving {
  readonly port: number;
  /** Takes what the cluster publishes, for each authority that no flag gave. */
  trust(published: PublishedTrust): void;
  /** Reads the certificate files again now (SIGHUP). */
  reload(): void;
  close(): Promise<void>;
}

/** Binds the port and serves. Throws naming the flag for bad files, or the address that is taken. */
export async function serve(options: ServeOptions, deps: ServeDeps): Promise<Serving> {
  const certificate = await ServingCertificate.open(options, deps.clock, deps.random);
  const trust = new Trust(options);
  const authenticate = createAuthenticator({
    ...deps,
    tokenCacheTtlMs: options.tokenCacheTtlMs,
    clientAuthorities: () => trust.clients,
    proxyAuthorities: () => trust.proxies,
    requestHeader: () => trust.requestHeader,
  });
  const authorize = createAuthorizer({ ...deps, ...options });
  const app = createApp({ ...deps, authenticate, authorize, profiling: options.profiling });
  // The adapter would put Request and Response of its own in place of everybody's.
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const http = createServer(listener);
  const secure = (): object => ({
    cert: certificate.pair.certPem,
    key: certificate.pair.keyPem,
    ca: trust.pems,
    minVersion: options.minVersion,
    ...(options.cipherSuites.length === 0 ? {} : { ciphers: ciphersOf(options) }),
    ...(options.curves.length === 0 ? {} : { ecdhCurve: options.curves.join(':') }),
  });
  const tls = createTlsServer(
    { ...secure(), requestCert: true, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] },
    (socket) => http.emit('connection', socket),
  );
  tls.on('tlsClientError', (error) => deps.log.v(2).info('TLS handshake failed', { error }));
  for (const named of options.namedCertificates) addNamed(tls, named);
  await listen(tls, options);
  const refresh = (): void => {
    try {
      const changed = [certificate.refresh(), trust.refresh()].includes(true);
      if (changed) tls.setSecureContext(secure());
    } catch (error) {
      deps.log.error('Could not reload the serving certificates; keeping the old ones', error);
    }
  };
  const timer = reloadRegularly(deps, refresh);
  const address = tls.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : options.port,
    trust(published) {
      trust.learn(published);
      tls.setSecureContext(secure());
    },
    reload: refresh,
    close: () => close(tls, http, timer),
  };
}

/** Authorities from flags, completed by what the cluster publishes. */
class Trust {
  readonly #clients: Bundle;
  readonly #proxies: Bundle;
  readonly #options: ServeOptions;
  #published: PublishedTrust | undefined;
  #publishedClients = new Authorities([]);
  #publishedProxies = new Authorities([]);

  constructor(options: ServeOptions) {
    this.#options = options;
    this.#clients = new Bundle('--client-ca-file', options.clientCaFile);
    const { caFile } = options.requestHeader;
    this.#proxies = new Bundle('--requestheader-client-ca-file', caFile);
  }

  get clients(): Authorities {
    return this.#pick(this.#clients, this.#publishedClients);
  }

  get proxies(): Authorities {
    return this.#pick(this.#proxies, this.#publishedProxies);
  }

  get requestHeader(): RequestHeaderOptions {
    const published = this.#published;
    if (this.#proxies.given || published === undefined) return this.#options.requestHeader;
    return { ...published.requestHeader, caFile: '' };
  }

  get pems(): readonly string[] {
    return [...this.clients.pems, ...this.proxies.pems];
  }

  learn(published: PublishedTrust): void {
    // All or nothing: new names of headers must not meet older authorities.
    const clients = new Authorities([published.clientCaPem]);
    const proxies = new Authorities([published.requestHeaderCaPem]);
    this.#published = published;
    this.#publishedClients = clients;
    this.#publishedProxies = proxies;
  }

  /** Reads changed files again; true if any had changed. */
  refresh(): boolean {
    return [this.#clients.refresh(), this.#proxies.refresh()].includes(true);
  }

  #pick(bundle: Bundle, published: Authorities): Authorities {
    return bundle.given ? bundle.authorities : published;
  }
}

function ciphersOf({ cipherSuites }: ServeOptions): string {
  return cipherSuites.map(opensslCipher).join(':');
}

/** Shows another certificate to clients that ask for one of its names (--tls-sni-cert-key). */
function addNamed(tls: TlsServer, { certFile, keyFile, names }: NamedPair): void {
  const { certPem: cert, keyPem: key } = readPair(certFile, keyFile, '--tls-sni-cert-key');
  const hosts = names.length > 0 ? names : namesIn(cert);
  for (const host of hosts) tls.addContext(host, { cert, key });
}

/** DNS names that a certificate is for. */
function namesIn(pem: string): string[] {
  const { subjectAltName = '' } = new X509Certificate(pem);
  return [...subjectAltName.matchAll(/DNS:([^,\s]+)/g)].map(([, name = '']) => name);
}

function reloadRegularly(deps: ServeDeps, refresh: () => void): { cancel(): void } {
  let timer: Timer | undefined;
  const next = (): void => {
    const again = (): void => {
      refresh();
      next();
    };
    timer = deps.clock.after(CERTIFICATE_RELOAD_INTERVAL_MS, again, { background: true });
  };
  next();
  return { cancel: () => timer?.cancel() };
}

async function close(tls: TlsServer, http: Server, timer: { cancel(): void }): Promise<void> {
  timer.cancel();
  http.closeAllConnections();
  await new Promise<void>((resolve) => tls.close(() => resolve()));
}
