/** Where the API server is and who we are there: from a kubeconfig, our own pod, or --master. */
import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { type ClientConfig, serverUrl } from './client-config.ts';
import { ConfigError, whyUnreadable, wrong } from './config-error.ts';
import { parseKubeconfig } from './kubeconfig.ts';
import { certificatesProblem, type PemSource, pemText } from './pem.ts';

export interface ConfigInput {
  /** --kubeconfig; "" or absent: none. */
  readonly kubeconfig?: string;
  /** --master; "" or absent: none. Overrides the kubeconfig's server. */
  readonly master?: string;
  /** KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT and POD_NAMESPACE are looked at. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the pod's service account is mounted. */
  readonly serviceAccountDirectory?: string;
}

const SERVICE_ACCOUNT_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * Loads as upstream's BuildConfigFromFlags: the kubeconfig if given, else --master alone without
 * credentials, else the pod's own service account. Throws ConfigError for whatever can't work:
 * unlike upstream, a context that names a user who isn't there is an error too.
 */
export async function loadClientConfig(input: ConfigInput): Promise<ClientConfig> {
  const master = input.master ?? '';
  const kubeconfig = input.kubeconfig ?? '';
  if (kubeconfig !== '') return parseKubeconfig(readKubeconfig(kubeconfig), kubeconfig, master);
  if (master !== '') {
    return {
      server: serverUrl(master, false, '--master', ''),
      namespace: 'default',
      source: '--master',
      insecureSkipTlsVerify: false,
    };
  }
  return inClusterConfig(input);
}

function readKubeconfig(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const valid = 'give the path of a readable kubeconfig file';
    throw wrong(`--kubeconfig ${path}`, '', whyUnreadable(error), valid, error);
  }
}

function inClusterConfig(input: ConfigInput): ClientConfig {
  const directory = input.serviceAccountDirectory ?? SERVICE_ACCOUNT_DIRECTORY;
  const host = input.env.KUBERNETES_SERVICE_HOST ?? '';
  const port = input.env.KUBERNETES_SERVICE_PORT ?? '';
  const valid = 'give --kubeconfig or --master, or run in a pod that has a service account';
  if (host === '' || port === '') {
    const missing = host === '' ? 'KUBERNETES_SERVICE_HOST' : 'KUBERNETES_SERVICE_PORT';
    throw wrong('no --kubeconfig and no --master', '', `${missing} is not set`, valid);
  }
  const tokenFile = `${directory}/token`;
  if (readIn(tokenFile, valid).trim() === '') {
    throw wrong('in-cluster configuration', tokenFile, 'is empty', valid);
  }
  const ca = { file: `${directory}/ca.crt` };
  return {
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    namespace: podNamespace(input, directory),
    source: 'in-cluster configuration',
    ca: usableCa(ca) ? ca : undefined,
    insecureSkipTlsVerify: false,
    tokenFile,
  };
}

function readIn(path: string, valid: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw wrong('in-cluster configuration', path, whyUnreadable(error), valid, error);
  }
}

/** Upstream goes on with the system's CAs if the mounted bundle is missing or broken. */
function usableCa(ca: PemSource): boolean {
  try {
    return certificatesProblem(pemText(ca)) === undefined;
  } catch (error) {
    if (error instanceof ConfigError) return false;
    throw error;
  }
}

function podNamespace(input: ConfigInput, directory: string): string {
  const named = input.env.POD_NAMESPACE ?? '';
  if (named !== '') return named;
  try {
    return readFileSync(`${directory}/namespace`, 'utf8').trim() || 'default';
  } catch {
    // Upstream: an unreadable namespace file means the default namespace.
    return 'default';
  }
}
