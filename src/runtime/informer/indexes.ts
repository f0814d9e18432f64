/** The indexes that caches of plain records have beyond namespace and controller. */
import { ENDPOINT_SLICES, type Resource, resourceId } from '../../api/resource.ts';
import { SERVICE_NAME_LABEL } from '../../api/service.ts';
import type { IndexFunction } from './index-map.ts';
import type { ObjectRecord } from './types.ts';

type Indexes = Readonly<Record<string, IndexFunction<ObjectRecord>>>;

const NONE: Indexes = Object.freeze({});

/** EndpointSlices by the "namespace/name" of the Service they belong to. */
export const SLICES_BY_SERVICE = 'service';

const BY_RESOURCE: ReadonlyMap<string, Indexes> = new Map([
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
