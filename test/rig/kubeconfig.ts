/** Kubeconfig files for the identities of a rig. */
import type { Pair } from './certs.ts';

/** A kubeconfig (JSON, which is YAML) with everything embedded. */
export function kubeconfigText(server: string, caPem: string, user: string, pair: Pair): string {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  return JSON.stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'rig', cluster: { server, 'certificate-authority-data': base64(caPem) } }],
      users: [
        {
          name: user,
          user: {
            'client-certificate-data': base64(pair.certPem),
            'client-key-data': base64(pair.keyPem),
          },
        },
      ],
      contexts: [{ name: 'rig', context: { cluster: 'rig', user } }],
      'current-context': 'rig',
    },
    null,
    2,
  );
}
