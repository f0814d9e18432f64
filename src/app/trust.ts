/** Learns from the cluster which authorities vouch for clients, as upstream's delegated authentication. */
import { isNotFound } from '../api/errors.ts';
import { parseJson } from '../api/json.ts';
import { CONFIG_MAPS } from '../api/resource.ts';
import type { ConfigMap } from '../api/types/index.ts';
import type { PublishedTrust } from '../http/index.ts';
import type { KubeClient } from '../kube/types.ts';
import type { Clock } from '../runtime/clock.ts';
import { TRUST_LOOKUP_INTERVAL_MS } from '../runtime/limits.ts';
import type { Logger } from '../runtime/log.ts';

const AT = { namespace: 'kube-system', name: 'extension-apiserver-authentication' };

/** Reads the published authorities now and once in a while; tells each change. Never rejects. */
export async function learnTrust(
  client: KubeClient,
  { clock, log }: { clock: Clock; log: Logger },
  learned: (published: PublishedTrust) => void,
): Promise<void> {
  let known = '';
  const look = async (): Promise<void> => {
    try {
      const map = await client.get<ConfigMap>(CONFIG_MAPS, AT);
      const text = JSON.stringify(map.data ?? {});
      if (text !== known) learned(published(map.data ?? {}));
      known = text;
    } catch (error) {
      const what = 'Could not read the authorities that the cluster publishes';
      if (isNotFound(error)) log.v(2).info(what, { configMap: AT.name });
      else log.warning(what, { error: error instanceof Error ? error.message : String(error) });
    }
    clock.after(TRUST_LOOKUP_INTERVAL_MS, () => void look(), { background: true });
  };
  await look();
}

function published(data: Readonly<Record<string, string>>): PublishedTrust {
  const list = (name: string): string[] => parseJson<string[]>(data[name] ?? '[]');
  return {
    clientCaPem: data['client-ca-file'] ?? '',
    requestHeaderCaPem: data['requestheader-client-ca-file'] ?? '',
    requestHeader: {
      allowedNames: list('requestheader-allowed-names'),
      usernameHeaders: list('requestheader-username-headers'),
      groupHeaders: list('requestheader-group-headers'),
      uidHeaders: list('requestheader-uid-headers'),
      extraHeaderPrefixes: list('requestheader-extra-headers-prefix'),
    },
  };
}
