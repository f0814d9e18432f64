/** Watches everything that quotas may count, as discovery finds and loses it. */
import { PODS, type Resource, resourceId } from '../../api/resource.ts';
import type { ControllerContext, ServedResource, WorkQueue } from '../../runtime/controller.ts';
import type {
  DiscoveryLook,
  Followed,
  Handler,
  ObjectRecord,
  PodRecord,
} from '../../runtime/informer/types.ts';
import { cachesComplete } from '../_kit/followed-caches.ts';
import type { QuotaBook } from './book.ts';
import { counting, type Evaluator } from './evaluators.ts';
import type { Meter } from './meter.ts';
import type { MissedObjects } from './missed.ts';
import { isChargedPhase } from './pods.ts';
import { DEVICE_CLASSES, deviceEvaluator, RESOURCE_CLAIMS, typedEvaluators } from './prices.ts';

/** They are not stored, or were never counted. */
const IGNORED: ReadonlySet<string> = new Set([
  'bindings',
  'componentstatuses',
  'tokenreviews.authentication.k8s.io',
  'selfsubjectreviews.authentication.k8s.io',
  'subjectaccessreviews.authorization.k8s.io',
  'selfsubjectaccessreviews.authorization.k8s.io',
  'localsubjectaccessreviews.authorization.k8s.io',
  'selfsubjectrulesreviews.authorization.k8s.io',
  'events',
  'events.events.k8s.io',
]);
const NEEDED_VERBS = ['create', 'list', 'watch', 'delete'];

/** How a resource is to be followed: device claims and classes whole, other countable ones not. */
export function quotaFollows(resource: ServedResource): 'whole' | 'metadata' | undefined {
  const id = resourceId(resource);
  if (id === RESOURCE_CLAIMS || id === DEVICE_CLASSES) return 'whole';
  return isCounted(resource) ? 'metadata' : undefined;
}

function isCounted(resource: Resource & Pick<ServedResource, 'verbs'>): boolean {
  const isComplete = NEEDED_VERBS.every((verb) => resource.verbs.includes(verb));
  return resource.namespaced && isComplete && !IGNORED.has(resourceId(resource));
}

export interface MonitorsDeps {
  readonly context: ControllerContext;
  readonly meter: Meter;
  readonly book: QuotaBook;
  readonly missed: MissedObjects;
  /** Takes "resource namespace": what is there must be counted again. */
  readonly changes: WorkQueue;
}

/** The evaluators there are, and what tells that usage went down or was counted too low. */
export class Monitors {
  readonly #deps: MonitorsDeps;
  readonly #evaluators = new Map<string, Evaluator>();
  #signal = new AbortController().signal;
  /** Resolves once the caches are complete, or nobody waits for them any more. */
  #ready: Promise<unknown> = Promise.resolve();

  constructor(deps: MonitorsDeps) {
    this.#deps = deps;
    for (const one of typedEvaluators(deps.context)) this.#evaluators.set(one.resource, one);
  }

  evaluators(): IterableIterator<Evaluator> {
    return this.#evaluators.values();
  }

  get(resource: string): Evaluator | undefined {
    return this.#evaluators.get(resource);
  }

  /** Resources may have changed a moment ago: wait until their caches are complete. */
  async ready(): Promise<void> {
    await this.#ready;
  }

  begin(): void {
    const { followed } = this.#deps.context.informers;
    this.#add(followed.list());
    followed.onLook((look) => this.#look(look));
  }

  /** The lead has begun; resolves when all caches are complete, after 30 s at most. */
  async complete(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    await this.#wait();
  }

  #look({ added, removed, learned, problem }: DiscoveryLook): void {
    const { log } = this.#deps.context;
    if (learned !== 'all') log.warning('Error during resource discovery', { problem });
    if (added.length === 0 && removed.length === 0) return;
    for (const { resource } of removed) {
      // Pods, Services and claims are measured whatever discovery says.
      if (this.#isFound(resource)) this.#evaluators.delete(resourceId(resource));
    }
    this.#add(added);
    this.#ready = this.#wait().then((isComplete) => {
      if (!isComplete) log.warning('Timed out waiting for quota monitor sync');
    });
  }

  #isFound(resource: Resource): boolean {
    const evaluator = this.#evaluators.get(resourceId(resource));
    return evaluator?.price === undefined || evaluator.isVolatile === true;
  }

  #add(all: readonly Followed[]): void {
    for (const { resource, informer } of all) {
      if (!isCounted(resource)) continue;
      const id = resourceId(resource);
      const isDevices = id === RESOURCE_CLAIMS;
      const evaluator =
        this.#evaluators.get(id) ??
        (isDevices ? deviceEvaluator(this.#deps.context, informer) : undefined) ??
        counting(informer);
      this.#evaluators.set(id, evaluator);
      informer.addHandler(this.#handler(evaluator));
    }
  }

  #handler(evaluator: Evaluator): Handler<ObjectRecord> {
    const { meter, book, missed, changes } = this.#deps;
    const recount = ({ namespace }: ObjectRecord): void => {
      if (book.has(namespace)) changes.add(`${evaluator.resource} ${namespace}`);
    };
    const hasPrices = evaluator.price !== undefined && !evaluator.isVolatile;
    const repriced = (record: ObjectRecord): boolean => {
      try {
        return meter.reprice(evaluator, record);
      } catch {
        // The disk lost the object: counting its namespace has it fetched.
        return true;
      }
    };
    const add = (record: ObjectRecord, initial: boolean): void => {
      if (initial || !book.has(record.namespace)) return;
      // Admission has charged it; remember the price to notice when it changes.
      if (hasPrices) repriced(record);
      if (missed.appeared(record)) recount(record);
    };
    if (!hasPrices) return { add, delete: recount };
    const arePods = evaluator.resource === resourceId(PODS);
    return {
      add,
      update(record, before) {
        if (!book.has(record.namespace)) return;
        const isOther = record.uid !== before.uid;
        if (isOther || (arePods && hasEnded(record as PodRecord, before as PodRecord))) {
          recount(record);
        } else if (repriced(record)) recount(record);
      },
      delete: recount,
    };
  }

  /** False after 30 s; true when all caches are as new as the server was when asked. */
  #wait(): Promise<boolean> {
    const { clock, informers } = this.#deps.context;
    return cachesComplete({
      followed: informers.followed,
      clock,
      signal: this.#signal,
      counts: ({ resource }) => isCounted(resource),
      test: ({ informer }) => informer.caughtUp(),
    });
  }
}

function hasEnded(pod: PodRecord, before: PodRecord): boolean {
  return isChargedPhase(before.phase) && !isChargedPhase(pod.phase);
}
