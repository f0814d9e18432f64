/** HTTPS serving: health, metrics, configuration and state, behind delegated access control. */
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import { getRequestListener } from '@hono/node-server';
import type { Timer } from '../runtime/clock.ts';
import { CERTIFICATE_RELOAD_INTERVAL_MS } from '../runtime/limits.ts';
import { type AppDeps, createApp } from './app.ts';
import { createAuthenticator } from './authn.ts';
import { createAuthorizer } from './authz.ts';
import type { RequestHeaderOptions, Reviews, ServeOptions } from './options.ts';
import { ServingCertificate } from './serving-cert.ts';
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
  const http = createServer(getRequestListener(app.fetch));
  const secure = (): object => ({
    cert: certificate.pair.certPem,
    key: certificate.pair.keyPem,
    ca: trust.pems,
    minVersion: options.minVersion,
    ...(options.curves.length === 0 ? {} : { ecdhCurve: options.curves.join(':') }),
  });
  const tls = createTlsServer(
    { ...secure(), requestCert: true, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] },
    (socket) => http.emit('connection', socket),
  );
  tls.on('tlsClientError', (error) => deps.log.v(2).info('TLS handshake failed', { error }));
  await listen(tls, options);
  const refresh = (): void => {
    try {
      if (certificate.refresh()) tls.setSecureContext(secure());
    } catch (error) {
      deps.log.error('Could not reload the serving certificate; keeping the old one', error);
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
  clients: Authorities;
  proxies: Authorities;
  requestHeader: RequestHeaderOptions;
  readonly #options: ServeOptions;

  constructor(options: ServeOptions) {
    this.#options = options;
    this.clients = new Authorities(readBundle('--client-ca-file', options.clientCaFile));
    const { requestHeader } = options;
    this.requestHeader = requestHeader;
    const flag = '--requestheader-client-ca-file';
    this.proxies = new Authorities(readBundle(flag, requestHeader.caFile));
  }

  get pems(): readonly string[] {
    return [...this.clients.pems, ...this.proxies.pems];
  }

  learn(published: PublishedTrust): void {
    const { clientCaFile, requestHeader } = this.#options;
    if (clientCaFile === '' && published.clientCaPem !== '') {
      this.clients = new Authorities([published.clientCaPem]);
    }
    if (requestHeader.caFile === '' && published.requestHeaderCaPem !== '') {
      this.proxies = new Authorities([published.requestHeaderCaPem]);
      this.requestHeader = { ...published.requestHeader, caFile: '' };
    }
  }
}

function readBundle(flag: string, path: string): string[] {
  if (path === '') return [];
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${flag}: cannot read ${path}: ${why}`, { cause });
  }
  if (!text.includes('-----BEGIN CERTIFICATE-----')) {
    throw new Error(
      `${flag}: ${path} holds no certificate; want PEM "-----BEGIN CERTIFICATE-----"`,
    );
  }
  return [text];
}

async function listen(tls: TlsServer, options: ServeOptions): Promise<void> {
  const { bindAddress, port } = options;
  const host = bindAddress === '0.0.0.0' ? '::' : bindAddress;
  await new Promise<void>((resolve, reject) => {
    const fail = (cause: Error): void => {
      const message = `failed to create listener: listen tcp ${bindAddress}:${port}: ${cause.message}`;
      reject(new Error(message, { cause }));
    };
    tls.once('error', fail);
    tls.listen(port, host, () => {
      tls.off('error', fail);
      resolve();
    });
  });
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
