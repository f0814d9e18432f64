/** What controllers ask about a Service: its record, whether it has an IP, whether it selects pods. */
import type { StringMap } from './meta.ts';
import { type RecordFields, recordFields } from './record.ts';
import type { Service } from './types/index.ts';

/** Label of an EndpointSlice: the Service it belongs to. */
export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';

/** What the Service informer holds. */
export interface ServiceRecordFields extends RecordFields {
  /** Undefined: it selects nothing, and whoever likes makes its endpoints. */
  readonly selector: StringMap | undefined;
}

/** The record of a whole Service. */
export function serviceRecordFields(service: Service): ServiceRecordFields {
  return { ...recordFields(service), selector: service.spec?.selector };
}

/** True without a cluster IP: headless, or not given one. */
export function lacksClusterIp({ spec }: Service): boolean {
  return spec?.clusterIP === undefined || spec.clusterIP === '' || spec.clusterIP === 'None';
}

/** True if its endpoints are made from pods. */
export function hasPodEndpoints({ spec }: Service): boolean {
  return spec?.type !== 'ExternalName' && spec?.selector !== undefined;
}
