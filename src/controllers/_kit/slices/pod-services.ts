/**
 * From events of pods to the Services that must be synced, by upstream's rules
 * (GetPodUpdateProjectionKey). Which Services select some labels is worked out once, not for each
 * of the thousand pods that share them.
 */
import { sameMap } from '../../../api/meta.ts';
import { isTerminal } from '../../../api/pod.ts';
import { selectorFromMap } from '../../../api/selector.ts';
import type { Service } from '../../../api/types/index.ts';
import type {
  Handler,
  Lister,
  ObjectRecord,
  PodRecord,
  ServiceRecord,
} from '../../../runtime/informer/types.ts';

type Labels = ObjectRecord['labels'];

interface Answer {
  readonly namespace: string;
  readonly age: number;
  readonly keys: readonly string[];
}

/** Finds Services by pods. Both handlers must be added, that of Services first. */
export class PodServices {
  readonly #services: Lister<Service, ServiceRecord>;
  readonly #answers = new WeakMap<Labels, Answer>();
  /** Goes up whenever a selector comes, goes or changes. */
  #age = 0;

  constructor(services: Lister<Service, ServiceRecord>) {
    this.#services = services;
  }

  /** Handler of Services: names each that came, changed or went. */
  services(changed: (serviceKey: string) => void): Handler<ServiceRecord> {
    const tell = (service: ServiceRecord, previous?: ServiceRecord): void => {
      if (previous === undefined || !sameSelector(service, previous)) this.#age++;
      changed(service.key);
    };
    return { add: (service) => tell(service), update: tell, delete: (service) => tell(service) };
  }

  /** Handler of pods: names each Service whose endpoints may be others now. */
  pods(changed: (serviceKey: string) => void): Handler<PodRecord> {
    const tell = (keys: Iterable<string>): void => {
      for (const key of keys) changed(key);
    };
    return {
      // At the start every Service is synced anyway.
      add: (pod, initial) => (initial ? undefined : tell(this.#of(pod))),
      update: (pod, previous) => tell(this.#ofChange(pod, previous)),
      delete: (pod) => tell(this.#of(pod)),
    };
  }

  #ofChange(pod: PodRecord, previous: PodRecord): Iterable<string> {
    if (pod.resourceVersion === previous.resourceVersion) return [];
    const now = this.#of(pod);
    const changed = endpointChanged(pod, previous);
    if (!placeChanged(pod, previous)) return changed ? now : [];
    const before = this.#of(previous);
    if (changed) return new Set([...now, ...before]);
    return new Set(now).symmetricDifference(new Set(before));
  }

  #of({ namespace, labels }: PodRecord): readonly string[] {
    const known = this.#answers.get(labels);
    if (known?.namespace === namespace && known.age === this.#age) return known.keys;
    const keys = this.#services
      .list(namespace)
      .filter(({ selector }) => selector && selectorFromMap(selector).matches(labels))
      .map(({ key }) => key);
    this.#answers.set(labels, { namespace, age: this.#age, keys });
    return keys;
  }
}

function sameSelector(a: ServiceRecord, b: ServiceRecord): boolean {
  return selectorFromMap(a.selector).text === selectorFromMap(b.selector).text;
}

/** What Services publish of a pod has changed. Upstream overlooks the end of one that never ran. */
function endpointChanged(pod: PodRecord, previous: PodRecord): boolean {
  return (
    pod.uid !== previous.uid ||
    pod.deleting !== previous.deleting ||
    pod.ready !== previous.ready ||
    isTerminal(pod) !== isTerminal(previous) ||
    pod.podIps.length !== previous.podIps.length ||
    pod.podIps.some((ip, at) => ip !== previous.podIps[at])
  );
}

/** Other Services may select the pod, or publish its host name. */
function placeChanged(pod: PodRecord, previous: PodRecord): boolean {
  return (
    pod.hostname !== previous.hostname ||
    pod.subdomain !== previous.subdomain ||
    !sameMap(pod.labels, previous.labels)
  );
}
