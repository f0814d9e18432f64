/** Labels and annotations of Endpoints and EndpointSlices. */

/** Of a slice: who writes it. */
export const SLICE_MANAGER_LABEL = 'endpointslice.kubernetes.io/managed-by';
/** Empty value; of slices and Endpoints of Services without an IP of their own. */
export const HEADLESS_LABEL = 'service.kubernetes.io/headless';
/** When the change happened that a write tells of. */
export const TRIGGER_TIME_ANNOTATION = 'endpoints.kubernetes.io/last-change-trigger-time';
/** Of Endpoints that serve as a lock and belong to no Service. */
export const LEADER_ANNOTATION = 'control-plane.alpha.kubernetes.io/leader';

const NAME_BYTES_MAX = 253;

/** Name prefix of the slices of a Service or of Endpoints; a dash follows if there is room. */
export function slicePrefix(name: string): string {
  return name.length < NAME_BYTES_MAX ? `${name}-` : name;
}
