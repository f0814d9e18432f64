/** The cluster part of a kubeconfig: how to trust the server and how to get there. */
import { resolve } from 'node:path';
import type { ClientConfig } from './client-config.ts';
import type { Section } from './fields.ts';
import { readPem } from './kubeconfig-pem.ts';
import { certificatesProblem } from './pem.ts';

export type ClusterPart = Partial<
  Pick<ClientConfig, 'ca' | 'insecureSkipTlsVerify' | 'tlsServerName' | 'proxyUrl'>
> & { readonly execConfig?: unknown };

const EXEC_EXTENSION = 'client.authentication.k8s.io/exec';

/** Reads and checks everything but the server. Relative paths start at `directory`. */
export function readCluster(cluster: Section, directory: string): ClusterPart {
  const insecure = cluster.flag('insecure-skip-tls-verify');
  const ca = readPem(cluster, 'certificate-authority', resolve(directory), certificatesProblem);
  if (insecure && ca !== undefined) {
    throw cluster.wrong(
      'insecure-skip-tls-verify',
      'is true although a certificate-authority is given',
      'valid: only one of the two',
    );
  }
  return {
    insecureSkipTlsVerify: insecure,
    ca,
    tlsServerName: cluster.text('tls-server-name'),
    proxyUrl: readProxy(cluster),
    execConfig: execExtension(cluster),
  };
}

function readProxy(cluster: Section): string | undefined {
  const text = cluster.text('proxy-url');
  if (text === undefined) return undefined;
  const valid = 'valid: an http or https URL, e.g. http://proxy:3128';
  try {
    const url = new URL(text);
    if (url.protocol === 'http:' || url.protocol === 'https:') return text;
  } catch (error) {
    throw cluster.wrong('proxy-url', `is ${JSON.stringify(text)}, which is no URL`, valid, error);
  }
  throw cluster.wrong('proxy-url', `is ${JSON.stringify(text)}`, valid);
}

function execExtension(cluster: Section): unknown {
  const extensions = cluster.sections('extensions');
  return extensions.find((entry) => entry.text('name') === EXEC_EXTENSION)?.raw('extension');
}
