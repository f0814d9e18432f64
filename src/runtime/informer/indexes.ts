/** The indexes that caches of plain records have beyond namespace and controller. */
import type { ClusterRoleRecordFields } from '../../api/cluster-role.ts';
import { CLUSTER_ROLES, ENDPOINT_SLICES, type Resource, resourceId } from '../../api/resource.ts';
import { SERVICE_NAME_LABEL } from '../../api/service.ts';
import type { IndexFunction } from './index-map.ts';
import type { ObjectRecord } from './types.ts';

type Indexes = Readonly<Record<string, IndexFunction<ObjectRecord>>>;

const NONE: Indexes = Object.freeze({});

/** EndpointSlices by the "namespace/name" of the Service they belong to. */
export const SLICES_BY_SERVICE = 'service';

/** ClusterRoles whose rules are gathered from others, all under the one value `AGGREGATED`. */
export const ROLES_BY_SOURCE = 'source';
export const AGGREGATED = 'aggregated';

const BY_RESOURCE: ReadonlyMap<string, Indexes> = new Map<string, Indexes>([
  [resourceId(CLUSTER_ROLES), { [ROLES_BY_SOURCE]: sourceOf }],
  [resourceId(ENDPOINT_SLICES), { [SLICES_BY_SERVICE]: serviceOf }],
]);

/** Index functions of a resource by the names that `Lister.byIndex` is asked with. */
export function indexesOf(resource: Resource): Indexes {
  return BY_RESOURCE.get(resourceId(resource)) ?? NONE;
}

function serviceOf({ namespace, labels }: ObjectRecord): readonly string[] {
  const name = labels[SERVICE_NAME_LABEL];
  return name ? [`${namespace}/${name}`] : [];
}

function sourceOf(record: ObjectRecord): readonly string[] {
  return (record as ObjectRecord & ClusterRoleRecordFields).aggregated ? [AGGREGATED] : [];
}
