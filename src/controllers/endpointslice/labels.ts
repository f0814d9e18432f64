/** Labels of slices: those of the Service, and three that say whose they are. */
import { sameMap } from '../../api/meta.ts';
import { lacksClusterIp, SERVICE_NAME_LABEL } from '../../api/service.ts';
import type { EndpointSlice, Service } from '../../api/types/index.ts';
import { HEADLESS_LABEL, SLICE_MANAGER_LABEL } from '../_kit/slices/names.ts';

/** Value of the manager label of the slices that this controller writes. */
export const MANAGER = 'endpointslice-controller.k8s.io';

type Labels = Readonly<Record<string, string>>;

/** The labels that slices of a Service get. */
export function labelsFor(service: Service): Labels {
  const own = { [SERVICE_NAME_LABEL]: service.metadata.name, [SLICE_MANAGER_LABEL]: MANAGER };
  const headless = lacksClusterIp(service) ? { [HEADLESS_LABEL]: '' } : undefined;
  return { ...withoutOwn(service.metadata.labels), ...headless, ...own };
}

/** True if the Service's labels are those of the slice; the three own ones are not looked at. */
export function labelsFollow(slice: EndpointSlice, service: Service): boolean {
  return sameMap(withoutOwn(slice.metadata.labels), withoutOwn(service.metadata.labels));
}

/** True if this controller writes an object with these labels. */
export function isManaged(labels: Labels): boolean {
  return labels[SLICE_MANAGER_LABEL] === MANAGER;
}

function withoutOwn(labels: Labels = {}): Labels {
  const {
    [SERVICE_NAME_LABEL]: _,
    [SLICE_MANAGER_LABEL]: __,
    [HEADLESS_LABEL]: ___,
    ...others
  } = labels;
  return others;
}
