/** Which group versions other servers answer: their versions are not those of our etcd. */
import type { Resource } from '../../api/resource.ts';
import type { KubeObject } from '../../api/types/index.ts';
import { groupVersion } from '../../kube/index.ts';
import type { KubeClient } from '../../kube/types.ts';
import { LIST_PAGE_SIZE } from '../limits.ts';

const API_SERVICES: Resource = {
  group: 'apiregistration.k8s.io',
  version: 'v1',
  plural: 'apiservices',
  kind: 'APIService',
  namespaced: false,
};

interface ApiService extends KubeObject {
  readonly spec?: {
    readonly group?: string;
    readonly version?: string;
    /** Absent if the API server itself answers. */
    readonly service?: object | null;
  };
}

/** "metrics.k8s.io/v1beta1", ...: all that have an APIService with a service. Throws as `list`. */
export async function aggregatedGroupVersions(
  client: KubeClient,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  let token = '';
  do {
    const page = await client.list<ApiService>(API_SERVICES, {
      limit: LIST_PAGE_SIZE,
      signal,
      ...(token === '' ? {} : { continue: token }),
    });
    for (const { spec } of page.items) {
      const elsewhere = spec?.service !== undefined && spec.service !== null;
      if (elsewhere) found.add(groupVersion(spec.group ?? '', spec.version ?? ''));
    }
    token = page.continue;
  } while (token !== '');
  return found;
}
