/** Further APIs in the API server: what serves them listens on this machine. */
import type { Api, Json, Obj } from './api.ts';
import type { ClusterOptions } from './cluster.ts';

/** Lets the API server reach an aggregated API by a host name: there are no addresses of Services. */
export const METRICS_CLUSTER: ClusterOptions = {
  apiServerFlags: ['--enable-aggregator-routing=false'],
};

const AVAILABLE_TIMEOUT_MS = 60_000;

/**
 * Registers versions of groups, the preferred ones first, as served by HTTPS on a local port under the
 * name of a Service in kube-system; resolves when the API server finds them all available.
 */
export async function aggregate(
  api: Api,
  name: string,
  port: number,
  versions: readonly (readonly [group: string, version: string])[],
): Promise<void> {
  const metadata = { namespace: 'kube-system', name };
  const spec = { type: 'ExternalName', externalName: 'localhost' };
  await api.create({ apiVersion: 'v1', kind: 'Service', metadata, spec } as Obj);
  for (const [index, [group, version]] of versions.entries()) {
    await api.create({
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: `${version}.${group}` },
      spec: {
        group,
        version,
        service: { ...metadata, port },
        insecureSkipTLSVerify: true,
        groupPriorityMinimum: 100,
        versionPriority: 100 - index,
      },
    } as Obj);
  }
  const options = { timeoutMs: AVAILABLE_TIMEOUT_MS };
  for (const [group, version] of versions) {
    await api.waitFor('apiservices', '', `${version}.${group}`, isAvailable, options);
  }
}

function isAvailable({ status }: Obj): boolean {
  return (status?.conditions ?? []).some(
    (one: Json) => one.type === 'Available' && one.status === 'True',
  );
}
