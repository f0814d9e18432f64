/** What a client must know to reach an API server as somebody. */
import { wrong } from './config-error.ts';
import type { PemSource } from './pem.ts';

/** A credential plugin: a program that prints an ExecCredential. */
export interface ExecPlugin {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly apiVersion: string;
  /** Tell the plugin about the cluster in KUBERNETES_EXEC_INFO. */
  readonly provideClusterInfo: boolean;
  /** `config` of the cluster's client.authentication.k8s.io/exec extension. */
  readonly clusterConfig?: unknown;
  readonly installHint?: string;
}

/** Someone else in whose name requests are made. */
export interface Impersonation {
  readonly user: string;
  readonly uid?: string;
  readonly group?: string;
  readonly extra: Readonly<Record<string, string>>;
}

/** Everything a client needs to know. Plain data: it may be posted to another thread. */
export interface ClientConfig {
  /** Base URL without a slash at the end; may have a path. */
  readonly server: string;
  readonly namespace: string;
  /** Where this was read, for messages. */
  readonly source: string;
  readonly ca?: PemSource;
  readonly insecureSkipTlsVerify: boolean;
  readonly tlsServerName?: string;
  readonly proxyUrl?: string;
  readonly clientCertificate?: { readonly cert: PemSource; readonly key: PemSource };
  readonly token?: string;
  /** Read again when it changes; wins over `token` once read. */
  readonly tokenFile?: string;
  readonly basic?: { readonly username: string; readonly password: string };
  readonly exec?: ExecPlugin;
  readonly impersonate?: Impersonation;
}

/**
 * A base URL out of what people write: "https://host:6443", "host:6443", "host". Without a scheme
 * it is https if `secure`, as upstream.
 */
export function serverUrl(text: string, secure: boolean, file: string, field: string): string {
  const valid = 'valid: a URL or host:port, e.g. https://10.0.0.1:6443';
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(text)
    ? text
    : `${secure ? 'https' : 'http'}://${text}`;
  let url: URL;
  try {
    url = new URL(full);
  } catch (error) {
    throw wrong(file, field, `is ${JSON.stringify(text)}, which is no URL`, valid, error);
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw wrong(file, field, `is ${JSON.stringify(text)}, neither http nor https`, valid);
  }
  if (full !== text && url.pathname !== '/') {
    throw wrong(file, field, `is ${JSON.stringify(text)}, a path without a scheme`, valid);
  }
  return `${url.protocol}//${url.host}${url.pathname.replace(/\/+$/, '')}`;
}
