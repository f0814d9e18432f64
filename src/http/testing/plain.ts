/** What tests serve with: every option at rest, and a process that has nothing to tell. */
import type { ServeOptions, serve } from '../index.ts';
import { sampleOverview } from './overview.ts';

/** Options that listen on a free port of 127.0.0.1 and trust nobody. */
export const PLAIN_OPTIONS: ServeOptions = {
  bindAddress: '127.0.0.1',
  sharePort: false,
  port: 0,
  certFile: '',
  keyFile: '',
  certDir: '',
  minVersion: 'TLSv1.2',
  cipherSuites: [],
  curves: [],
  namedCertificates: [],
  clientCaFile: '',
  requestHeader: {
    caFile: '',
    allowedNames: [],
    usernameHeaders: ['x-remote-user'],
    groupHeaders: ['x-remote-group'],
    uidHeaders: [],
    extraHeaderPrefixes: [],
  },
  alwaysAllowPaths: [],
  tokenCacheTtlMs: 0,
  authorizedTtlMs: 0,
  unauthorizedTtlMs: 0,
  profiling: false,
};

/** A status without checks, pages or keys. */
export const PLAIN_STATUS: Parameters<typeof serve>[1]['status'] = {
  healthChecks: () => [],
  configz: () => ({}),
  flagz: () => ({}),
  statusz: () => ({}),
  debug: () => ({}),
  overview: () => sampleOverview(),
  explain: () => ({ problem: 'none' }),
  controllerDebug: () => ({}),
};
