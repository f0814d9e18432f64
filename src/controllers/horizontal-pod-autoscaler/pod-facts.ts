/** What is looked at in whole pods, kept while their version stays: reading them is dear. */
import { timeMs } from '../../api/time.ts';
import type { Pod } from '../../api/types/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Lister, PodRecord } from '../../runtime/informer/types.ts';
import { AUTOSCALED_POD_FACTS_MAX, PODS_READ_BEFORE_PAUSE } from '../../runtime/limits.ts';
import { Lru } from '../../runtime/lru.ts';
import type { AutoscaledPod } from './groups.ts';
import { MetricProblem } from './proposal.ts';
import { type RequestQuery, requestOf } from './requests.ts';

type Times = Pick<AutoscaledPod, 'startedAt' | 'readyStatus' | 'readyChangedAt'>;

interface Facts {
  readonly version: string;
  readonly times: Times;
  /** By container and resource; or why it can't be said. */
  readonly requests: Map<string, bigint | MetricProblem>;
}

/** Facts about pods, read from the cache of pods. */
export class PodFacts {
  readonly #pods: Lister<Pod, PodRecord>;
  readonly #clock: Pick<Clock, 'sleep'>;
  readonly #known = new Lru<string, Facts>(AUTOSCALED_POD_FACTS_MAX);

  constructor(pods: Lister<Pod, PodRecord>, clock: Pick<Clock, 'sleep'>) {
    this.#pods = pods;
    this.#clock = clock;
  }

  /** Start and readiness of pods; those that are gone by now are left out. */
  async times(records: readonly PodRecord[]): Promise<readonly AutoscaledPod[]> {
    return await this.#each(records, (record, pod) => {
      const facts = this.#of(record, pod);
      return facts && { ...record, ...facts.times };
    });
  }

  /** What pods request, by name. Throws MetricProblem as `requestOf` does. */
  async requests(
    records: readonly PodRecord[],
    query: RequestQuery,
  ): Promise<ReadonlyMap<string, bigint>> {
    const id = `${query.container}/${query.resource}`;
    const all = await this.#each(records, (record, read) => {
      const facts = this.#of(record, read);
      const known = facts?.requests.get(id) ?? this.#request(facts, query, read);
      if (facts === undefined || known === undefined) return undefined;
      facts.requests.set(id, known);
      if (known instanceof MetricProblem) throw known;
      return [record.name, known] as const;
    });
    return new Map(all);
  }

  #request(
    facts: Facts | undefined,
    query: RequestQuery,
    read: () => Pod | undefined,
  ): bigint | MetricProblem | undefined {
    const pod = facts && read();
    if (pod === undefined) return undefined;
    try {
      return requestOf(pod, query);
    } catch (error) {
      if (error instanceof MetricProblem) return error;
      throw error;
    }
  }

  #of({ uid, resourceVersion }: PodRecord, read: () => Pod | undefined): Facts | undefined {
    const known = this.#known.get(uid);
    if (known?.version === resourceVersion) return known;
    const pod = read();
    if (pod === undefined) return undefined;
    const facts = { version: resourceVersion, times: timesOf(pod), requests: new Map() };
    this.#known.set(uid, facts);
    return facts;
  }

  /** Others get their turn after so many pods that had to be read. */
  async #each<T>(
    records: readonly PodRecord[],
    look: (record: PodRecord, read: () => Pod | undefined) => T | undefined,
  ): Promise<T[]> {
    const found: T[] = [];
    let reads = 0;
    for (const record of records) {
      const before = reads;
      const value = look(record, () => {
        reads++;
        return this.#pods.get(record.key);
      });
      if (value !== undefined) found.push(value);
      if (reads > before && reads % PODS_READ_BEFORE_PAUSE === 0) await this.#clock.sleep(0);
    }
    return found;
  }
}

function timesOf({ status }: Pod): Times {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return {
    ...(status?.startTime === undefined ? {} : { startedAt: timeMs(status.startTime) }),
    ...(ready === undefined ? {} : { readyStatus: ready.status }),
    readyChangedAt: timeMs(ready?.lastTransitionTime),
  };
}
