/** Which fields the caches hold of the objects of a resource. */
import { clusterRoleRecordFields } from './cluster-role.ts';
import { jobRecordFields } from './job.ts';
import { leaseRecordFields } from './lease.ts';
import { nodeRecordFields } from './node.ts';
import { type RecordFields, recordFields } from './record.ts';
import {
  CLUSTER_ROLES,
  JOBS,
  LEASES,
  NODES,
  type Resource,
  resourceId,
  SECRETS,
  SERVICES,
} from './resource.ts';
import { secretRecordFields } from './secret.ts';
import { serviceRecordFields } from './service.ts';
import type { ClusterRole, Job, KubeObject, Lease, Node, Secret, Service } from './types/index.ts';

type Projection = (object: KubeObject) => RecordFields;

const RICHER: ReadonlyMap<string, Projection> = new Map<string, Projection>([
  [resourceId(CLUSTER_ROLES), (object) => clusterRoleRecordFields(object as ClusterRole)],
  [resourceId(JOBS), (object) => jobRecordFields(object as Job)],
  [resourceId(SECRETS), (object) => secretRecordFields(object as Secret)],
  [resourceId(LEASES), (object) => leaseRecordFields(object as Lease)],
  [resourceId(NODES), (object) => nodeRecordFields(object as Node)],
  [resourceId(SERVICES), (object) => serviceRecordFields(object as Service)],
]);

/** Makes the records of a resource: richer ones of those that controllers ask a lot about. */
export function projectionOf(resource: Resource): Projection {
  return RICHER.get(resourceId(resource)) ?? recordFields;
}
