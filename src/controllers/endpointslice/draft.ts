/** A slice in the making: a stored one that changes, or a new one. */
import { controllerReference } from '../../api/meta.ts';
import { SERVICES } from '../../api/resource.ts';
import type { EndpointSlice, Service, SliceEndpoint, SlicePort } from '../../api/types/index.ts';
import { slicePrefix, TRIGGER_TIME_ANNOTATION } from '../_kit/slices/names.ts';
import { portsText } from '../_kit/slices/ports.ts';
import { SLICE_TYPE, type SliceBody } from '../_kit/slices/write.ts';
import { labelsFor } from './labels.ts';

/** What a slice is to hold; decisions fill it step by step. */
export interface Draft {
  /** The stored slice; undefined: a new one. */
  readonly stored: EndpointSlice | undefined;
  readonly addressType: string;
  readonly ports: readonly SlicePort[];
  endpoints: SliceEndpoint[];
  /** The Service's labels are set, else those stored are kept. */
  relabeled: boolean;
  /** How it differs, for people. */
  readonly changes: { added: number; removed: number; updated: number; hints: boolean };
}

/** A new slice without endpoints. */
export function newDraft(addressType: string, ports: readonly SlicePort[]): Draft {
  return {
    stored: undefined,
    addressType,
    ports,
    endpoints: [],
    relabeled: true,
    changes: { added: 0, removed: 0, updated: 0, hints: false },
  };
}

/** A stored slice as it is, to be changed. */
export function draftOf(stored: EndpointSlice): Draft {
  return {
    stored,
    addressType: stored.addressType,
    ports: stored.ports ?? [],
    endpoints: [...(stored.endpoints ?? [])],
    relabeled: false,
    changes: { added: 0, removed: 0, updated: 0, hints: false },
  };
}

/** Adds endpoints until the slice is full or none is left; gives those left. */
export function fill(
  draft: Draft,
  endpoints: readonly SliceEndpoint[],
  endpointsMax: number,
): readonly SliceEndpoint[] {
  const room = Math.max(0, endpointsMax - draft.endpoints.length);
  draft.endpoints.push(...endpoints.slice(0, room));
  draft.changes.added += Math.min(room, endpoints.length);
  return endpoints.slice(room);
}

/** The body to write. A new slice may take the place of a stored one that would be deleted. */
export function bodyOf(
  draft: Draft,
  service: Service,
  triggerTime: string | undefined,
  replaced?: EndpointSlice,
): SliceBody {
  const { stored, addressType, ports, endpoints, relabeled } = draft;
  if (stored !== undefined) {
    const { metadata } = stored;
    const annotations = dated(metadata.annotations ?? {}, triggerTime);
    const labels = relabeled ? labelsFor(service) : metadata.labels;
    return { ...stored, ...SLICE_TYPE, metadata: { ...metadata, labels, annotations }, endpoints };
  }
  const { namespace, name } = service.metadata;
  return {
    ...SLICE_TYPE,
    metadata: {
      ...(replaced && identityOf(replaced)),
      generateName: slicePrefix(name),
      namespace,
      labels: labelsFor(service),
      annotations: dated({}, triggerTime),
      ownerReferences: [controllerReference(service.metadata, SERVICES)],
    },
    addressType,
    ports,
    endpoints,
  };
}

function identityOf({ metadata: { name, uid, resourceVersion } }: EndpointSlice): object {
  return { name, uid, resourceVersion };
}

function dated(
  annotations: Readonly<Record<string, string>>,
  triggerTime: string | undefined,
): Readonly<Record<string, string>> {
  const { [TRIGGER_TIME_ANNOTATION]: _, ...others } = annotations;
  return triggerTime === undefined ? others : { ...others, [TRIGGER_TIME_ANNOTATION]: triggerTime };
}

/** Why a slice is written. */
export function reasonOf({ stored, addressType, ports, endpoints, changes }: Draft): string {
  const { added, removed, updated, hints } = changes;
  if (stored === undefined) {
    if (endpoints.length === 0) return `an empty slice stands for no ${addressType} endpoints`;
    return `${endpoints.length} ${addressType} endpoints at ${portsText(ports)} have no slice`;
  }
  const parts = [
    added > 0 ? `${added} endpoints come` : '',
    removed > 0 ? `${removed} go` : '',
    updated > 0 ? `${updated} have changed` : '',
    hints ? 'hints have changed' : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? "labels are not the Service's" : parts.join(', ');
}
