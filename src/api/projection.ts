/** Which fields the caches hold of the objects of a resource. */
import { jobRecordFields } from './job.ts';
import { type RecordFields, recordFields } from './record.ts';
import { JOBS, type Resource, resourceId, SERVICES } from './resource.ts';
import { serviceRecordFields } from './service.ts';
import type { Job, KubeObject, Service } from './types/index.ts';

const RICHER: ReadonlyMap<string, (object: KubeObject) => RecordFields> = new Map([
  [resourceId(JOBS), (object) => jobRecordFields(object as Job)],
  [resourceId(SERVICES), (object) => serviceRecordFields(object as Service)],
]);

/** Makes the records of a resource: richer ones of those that controllers ask a lot about. */
export function projectionOf(resource: Resource): (object: KubeObject) => RecordFields {
  return RICHER.get(resourceId(resource)) ?? recordFields;
}
