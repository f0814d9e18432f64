/** The evaluators that look into objects: pods, Services and claims. */
import {
  PERSISTENT_VOLUME_CLAIMS,
  PODS,
  type Resource,
  resourceId,
  SERVICES,
} from '../../api/resource.ts';
import type {
  DeviceClass,
  KubeObject,
  PersistentVolumeClaim,
  ResourceClaim,
  Service,
} from '../../api/types/index.ts';
import type { ControllerContext } from '../../runtime/controller.ts';
import type { Informer, ObjectRecord } from '../../runtime/informer/types.ts';
import { amountsAt, type Charge, chargeOf } from './charge.ts';
import {
  addExtended,
  deviceAmounts,
  ExtendedResources,
  isDeviceName,
  podOfExtended,
} from './device-claims.ts';
import type { Evaluator } from './evaluators.ts';
import { isPodName, podCharge } from './pods.ts';
import { isServiceName, serviceCharge } from './services.ts';
import { claimCharge, isClaimName } from './volume-claims.ts';

/** resourceIds of what is followed whole. */
export const RESOURCE_CLAIMS = 'resourceclaims.resource.k8s.io';
export const DEVICE_CLASSES = 'deviceclasses.resource.k8s.io';

type Context = Pick<ControllerContext, 'informers' | 'gate' | 'clock'>;

/** Pods, Services and volume claims. */
export function typedEvaluators(context: Context): readonly Evaluator[] {
  return [podEvaluator(context), serviceEvaluator(context), claimEvaluator(context)];
}

function podEvaluator({ informers, gate }: Context): Evaluator {
  const pods = informers.pods();
  const gates = {
    inPlaceResize: gate('InPlacePodVerticalScaling'),
    podLevelResources: gate('PodLevelResources'),
  };
  return {
    resource: resourceId(PODS),
    informer: asPlain(pods),
    measures: isPodName,
    price({ key }) {
      const pod = pods.lister.get(key);
      return pod && podCharge(pod, gates);
    },
  };
}

function serviceEvaluator({ informers }: Context): Evaluator {
  const services = informers.of<Service>(SERVICES);
  return priced(SERVICES, asPlain(services), isServiceName, (key) => {
    const service = services.lister.get(key);
    return service && serviceCharge(service);
  });
}

function claimEvaluator({ informers, gate }: Context): Evaluator {
  const claims = informers.of<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS);
  const gates = {
    recoverExpansion: gate('RecoverVolumeExpansionFailure'),
    volumeAttributesClass: gate('VolumeAttributesClass'),
  };
  return priced(PERSISTENT_VOLUME_CLAIMS, asPlain(claims), isClaimName, (key) => {
    const claim = claims.lister.get(key);
    return claim && claimCharge(claim, gates);
  });
}

function priced(
  resource: Resource,
  informer: Evaluator['informer'],
  measures: Evaluator['measures'],
  price: (key: string) => Charge | undefined,
): Evaluator {
  return { resource: resourceId(resource), informer, measures, price: ({ key }) => price(key) };
}

/** Claims of devices, once the server serves them. */
export function deviceEvaluator(
  context: Context,
  informer: Informer<KubeObject>,
): Evaluator | undefined {
  const { gate, clock } = context;
  if (!gate('DynamicResourceAllocation')) return undefined;
  const withExtended = gate('DRAExtendedResource');
  const claims = informer as unknown as Informer<ResourceClaim>;
  const pods = podEvaluator(context);
  const extended = (): ExtendedResources | undefined =>
    withExtended ? new ExtendedResources(deviceClasses(context)) : undefined;
  return {
    resource: RESOURCE_CLAIMS,
    informer,
    isVolatile: true,
    measures: (name) => isDeviceName(name, extended),
    price({ key }) {
      const claim = claims.lister.get(key);
      if (claim === undefined) return undefined;
      const amounts = deviceAmounts(claim);
      const classes = extended();
      if (classes !== undefined) {
        const charge = chargeOfPod(claim, claims, context, pods);
        addExtended(amounts, classes, charge && amountsAt(charge, clock.now()));
      }
      return chargeOf(amounts);
    },
  };
}

function deviceClasses({ informers }: Context): readonly DeviceClass[] {
  const followed = informers.followed
    .list()
    .find(({ resource }) => resourceId(resource) === DEVICE_CLASSES);
  if (followed === undefined) return [];
  const lister = followed.informer.lister as unknown as Informer<DeviceClass>['lister'];
  return lister.list('').flatMap(({ key }) => lister.get(key) ?? []);
}

/** What the pod is charged for whose extended resources the claim stands; undefined: nothing. */
function chargeOfPod(
  claim: ResourceClaim,
  claims: Informer<ResourceClaim>,
  { informers }: Context,
  pods: Evaluator,
): Charge | undefined {
  const named = podOfExtended(claim);
  if (named === undefined) return undefined;
  const { lister } = informers.pods();
  const record = lister.record(`${claim.metadata.namespace}/${named.name}`);
  if (record === undefined || record.uid !== named.uid) return undefined;
  const told = lister.get(record.key)?.status?.extendedResourceClaimStatus;
  const isMeant =
    told === undefined
      ? isFirstOf(claim, named.uid, claims)
      : told.resourceClaimName === claim.metadata.name;
  return isMeant ? pods.price?.(record) : undefined;
}

/** The oldest of the pod's claims is its own; names decide between claims of one moment. */
function isFirstOf(claim: ResourceClaim, podUid: string, claims: Informer<ResourceClaim>): boolean {
  const ageOf = ({ metadata }: ResourceClaim) => Date.parse(metadata.creationTimestamp ?? '');
  return claims.lister.list(claim.metadata.namespace ?? '').every(({ key }) => {
    const other = claims.lister.get(key);
    if (other === undefined || podOfExtended(other)?.uid !== podUid) return true;
    if (ageOf(other) !== ageOf(claim)) return ageOf(other) > ageOf(claim);
    return other.metadata.name >= claim.metadata.name;
  });
}

function asPlain<T extends KubeObject, R extends ObjectRecord>(
  informer: Informer<T, R>,
): Informer<KubeObject, ObjectRecord> {
  return informer as unknown as Informer<KubeObject, ObjectRecord>;
}
