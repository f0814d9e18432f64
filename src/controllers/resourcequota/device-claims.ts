/** What a ResourceClaim costs: itself, and the devices it may get, by device class. */
import type { Amounts } from '../../api/pod-resources.ts';
import { type Quantity, quantityOf, subtractQuantities } from '../../api/quantity.ts';
import type { DeviceClass, ResourceClaim } from '../../api/types/index.ts';
import { addTo, countName, ONE } from './amounts.ts';
import { isExtendedName } from './pods.ts';

const COUNT = countName('resourceclaims.resource.k8s.io');
const BY_CLASS = '.deviceclass.resource.k8s.io/devices';
const REQUESTS = 'requests.';
const DEVICE_CLASS = 'deviceclass.resource.kubernetes.io/';
const BY_REQUEST = `${REQUESTS}${DEVICE_CLASS}`;
/** "All devices" is charged as the most that an allocation can hold. */
const ALL_DEVICES = 32;
const EXTENDED_ANNOTATION = 'resource.kubernetes.io/extended-resource-claim';

/** Which device classes stand for extended resources. */
export class ExtendedResources {
  readonly #ofClass = new Map<string, string>();
  readonly #names = new Set<string>();

  constructor(classes: readonly DeviceClass[]) {
    for (const { metadata, spec } of classes) {
      this.#names.add(`${DEVICE_CLASS}${metadata.name}`);
      const { extendedResourceName } = spec ?? {};
      if (extendedResourceName === undefined) continue;
      this.#ofClass.set(metadata.name, extendedResourceName);
      this.#names.add(extendedResourceName);
    }
  }

  /** The extended resource of a class, undefined if it has none of its own. */
  ofClass(name: string): string | undefined {
    return this.#ofClass.get(name);
  }

  /** True for the names that claims are charged for. */
  isName(name: string): boolean {
    if (name.startsWith(BY_REQUEST) && this.#ofClass.has(name.slice(BY_REQUEST.length)))
      return true;
    return isExtendedName(name) && this.#names.has(name.slice(REQUESTS.length));
  }
}

/** True for the names that claims are charged for; `extended` is asked for its names last. */
export function isDeviceName(name: string, extended: () => ExtendedResources | undefined): boolean {
  return name === COUNT || name.endsWith(BY_CLASS) || (extended()?.isName(name) ?? false);
}

/** The price of a claim by its spec; devices by class. */
export function deviceAmounts({ spec }: ResourceClaim): Map<string, Quantity> {
  const amounts = new Map<string, Quantity>([[COUNT, ONE]]);
  for (const { exactly, firstAvailable } of spec?.devices?.requests ?? []) {
    if (firstAvailable !== undefined && firstAvailable.length > 0) {
      addTo(amounts, mostOf(firstAvailable));
    } else if (exactly !== undefined) {
      addTo(amounts, new Map([[nameOf(exactly), quantityOf(devicesOf(exactly))]]));
    }
  }
  return amounts;
}

interface DeviceRequest {
  readonly deviceClassName: string;
  readonly allocationMode?: string;
  readonly count?: number;
}

/** Only one of the alternatives will be chosen: the worst case counts, class by class. */
function mostOf(alternatives: readonly DeviceRequest[]): Amounts {
  const most = new Map<string, Quantity>();
  for (const one of alternatives) {
    const quantity = quantityOf(devicesOf(one));
    if (quantity.nanos > (most.get(nameOf(one))?.nanos ?? 0n)) most.set(nameOf(one), quantity);
  }
  return most;
}

function nameOf({ deviceClassName }: DeviceRequest): string {
  return `${deviceClassName}${BY_CLASS}`;
}

/** Modes of a newer API server are not charged. */
function devicesOf({ allocationMode, count = 0 }: DeviceRequest): number {
  if (allocationMode === 'ExactCount') return count;
  return allocationMode === 'All' ? ALL_DEVICES : 0;
}

/**
 * Adds the extended resources that stand for the claim's classes, less what its pod is charged for
 * them already.
 */
export function addExtended(
  amounts: Map<string, Quantity>,
  extended: ExtendedResources,
  ofPod: Amounts | undefined,
): void {
  const more = new Map<string, Quantity>();
  for (const [name, quantity] of amounts) {
    const className = name.endsWith(BY_CLASS) ? name.slice(0, -BY_CLASS.length) : '';
    if (className === '') continue;
    more.set(`${BY_REQUEST}${className}`, quantity);
    const resource = extended.ofClass(className);
    if (resource !== undefined) more.set(`${REQUESTS}${resource}`, quantity);
  }
  for (const [name, quantity] of more) {
    const charged = ofPod?.get(name);
    const left = charged === undefined ? quantity : subtractQuantities(quantity, charged);
    if (left.nanos > 0n) amounts.set(name, left);
  }
}

/** The pod for whose extended resources the claim was made, as the claim says. */
export function podOfExtended(claim: ResourceClaim): { name: string; uid: string } | undefined {
  const { annotations, ownerReferences } = claim.metadata;
  if (annotations?.[EXTENDED_ANNOTATION] !== 'true') return undefined;
  const owner = ownerReferences?.find(({ controller }) => controller === true);
  if (owner?.kind !== 'Pod' || owner.apiVersion !== 'v1') return undefined;
  return { name: owner.name, uid: owner.uid };
}
