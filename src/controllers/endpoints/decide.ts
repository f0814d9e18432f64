/** What the Endpoints of a Service must look like, and the write that makes them so. */
import { sameMap } from '../../api/meta.ts';
import { apiVersionOf, ENDPOINTS } from '../../api/resource.ts';
import { lacksClusterIp } from '../../api/service.ts';
import type {
  EndpointAddress,
  EndpointSubset,
  Endpoints,
  Service,
  SubsetPort,
} from '../../api/types/index.ts';
import type { PodRecord } from '../../runtime/informer/types.ts';
import { sameTarget } from '../_kit/slices/endpoint-set.ts';
import { HEADLESS_LABEL, TRIGGER_TIME_ANNOTATION } from '../_kit/slices/names.ts';
import { repackSubsets } from '../_kit/slices/repack.ts';
import { CAPACITY_ADDRESSES, countAddresses, subsetsOf, truncated } from './subsets.ts';

const MANAGER_LABEL = 'endpoints.kubernetes.io/managed-by';
const MANAGER = 'endpoint-controller';
const OVER_CAPACITY_ANNOTATION = 'endpoints.kubernetes.io/over-capacity';
const TRUNCATED = 'truncated';

/** What a decision looks at. */
export interface Observed {
  readonly service: Service;
  /** Those that the Service selects. */
  readonly pods: readonly PodRecord[];
  readonly current: Endpoints | undefined;
  /** When what is new happened; undefined: nothing that readiness or creation tells of. */
  readonly triggerTime: string | undefined;
}

/** The write that is due. */
export interface EndpointsWrite {
  readonly verb: 'create' | 'update';
  readonly body: Omit<Endpoints, 'metadata'> & {
    readonly metadata: Partial<Endpoints['metadata']>;
  };
  readonly because: string;
}

/** The write that is due, if any. Subsets, labels and the note about capacity are compared. */
export function decide(observed: Observed): EndpointsWrite | undefined {
  const { service, pods, current, triggerTime } = observed;
  const wanted = subsetsOf(service, pods);
  const wrong = current === undefined ? 'there are none' : whatIsWrong(current, service, wanted);
  if (wrong === undefined) return undefined;
  const cut = truncated(wanted);
  const annotations = annotationsFor(current, triggerTime, cut !== undefined);
  const subsets = cut ?? wanted;
  const labels = labelsFor(service);
  const { namespace, name } = service.metadata;
  const body = {
    ...current,
    apiVersion: apiVersionOf(ENDPOINTS),
    kind: ENDPOINTS.kind,
    metadata: { ...(current?.metadata ?? { namespace, name }), labels, annotations },
    subsets,
  };
  // Endpoints over capacity are never found right; but as long as they stay the same, let them be.
  if (current !== undefined && same(current, body)) return undefined;
  const because = `${wrong}: ${countText(subsets)} of ${pods.length} pods`;
  return { verb: current === undefined ? 'create' : 'update', body, because };
}

function whatIsWrong(
  current: Endpoints,
  service: Service,
  wanted: readonly EndpointSubset[],
): string | undefined {
  const { subsets = [], metadata } = current;
  // Another version may have packed the same addresses in another order.
  if (!sameSubsets(subsets, wanted) && !sameSubsets(repackSubsets(subsets), wanted)) {
    return `they hold ${countText(subsets)}`;
  }
  if (!labelsFollow(metadata.labels ?? {}, service.metadata.labels ?? {})) {
    return 'their labels are not those of the Service';
  }
  const { ready, notReady } = countAddresses(subsets);
  if (ready + notReady > CAPACITY_ADDRESSES)
    return `they hold over ${CAPACITY_ADDRESSES} addresses`;
  if (metadata.annotations?.[OVER_CAPACITY_ANNOTATION] !== undefined) {
    return 'they are marked as over capacity';
  }
  return undefined;
}

/** Whether the headless label is right is not looked at, as upstream doesn't. */
function labelsFollow(labels: Labels, ofService: Labels): boolean {
  const { [MANAGER_LABEL]: manager, [HEADLESS_LABEL]: _, ...others } = labels;
  return manager === MANAGER && sameMap(others, ofService);
}

type Labels = Readonly<Record<string, string>>;

function labelsFor(service: Service): Labels {
  const { [HEADLESS_LABEL]: _, ...labels } = service.metadata.labels ?? {};
  if (!lacksClusterIp(service)) return { ...labels, [MANAGER_LABEL]: MANAGER };
  return { ...labels, [HEADLESS_LABEL]: '', [MANAGER_LABEL]: MANAGER };
}

function annotationsFor(
  current: Endpoints | undefined,
  triggerTime: string | undefined,
  overCapacity: boolean,
): Labels {
  const { annotations = {} } = current?.metadata ?? {};
  const { [TRIGGER_TIME_ANNOTATION]: _, [OVER_CAPACITY_ANNOTATION]: __, ...others } = annotations;
  return {
    ...others,
    ...(triggerTime === undefined ? {} : { [TRIGGER_TIME_ANNOTATION]: triggerTime }),
    ...(overCapacity ? { [OVER_CAPACITY_ANNOTATION]: TRUNCATED } : {}),
  };
}

function same(current: Endpoints, body: EndpointsWrite['body']): boolean {
  const { labels = {}, annotations = {} } = current.metadata;
  return (
    sameMap(labels, body.metadata.labels ?? {}) &&
    sameMap(annotations, body.metadata.annotations ?? {}) &&
    sameSubsets(current.subsets ?? [], body.subsets ?? [])
  );
}

function countText(subsets: readonly EndpointSubset[]): string {
  const { ready, notReady } = countAddresses(subsets);
  return `${ready} ready and ${notReady} not ready addresses`;
}

/** True if both say the same in the same order; versions of pods are not looked at. */
function sameSubsets(a: readonly EndpointSubset[], b: readonly EndpointSubset[]): boolean {
  return sameLists(
    a,
    b,
    (left, right) =>
      sameLists(left.addresses ?? [], right.addresses ?? [], sameAddress) &&
      sameLists(left.notReadyAddresses ?? [], right.notReadyAddresses ?? [], sameAddress) &&
      sameLists(left.ports ?? [], right.ports ?? [], samePort),
  );
}

function sameAddress(a: EndpointAddress, b: EndpointAddress): boolean {
  return (
    a.ip === b.ip &&
    (a.hostname ?? '') === (b.hostname ?? '') &&
    a.nodeName === b.nodeName &&
    sameTarget(a.targetRef, b.targetRef)
  );
}

function samePort(a: SubsetPort, b: SubsetPort): boolean {
  return (
    (a.name ?? '') === (b.name ?? '') &&
    a.port === b.port &&
    a.protocol === b.protocol &&
    a.appProtocol === b.appProtocol
  );
}

function sameLists<T>(a: readonly T[], b: readonly T[], equal: (a: T, b: T) => boolean): boolean {
  return a.length === b.length && a.every((one, at) => equal(one, b[at] as T));
}
