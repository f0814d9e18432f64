/** Queue, expectations, events and pod control in memory for controller tests. */
import type { KubeObject, ObjectReference } from '../../../api/types/index.ts';
import type {
  EventRecorder,
  Expectations,
  PodBatchResult,
  PodControl,
  PodCreation,
  SyncRun,
  WorkQueue,
} from '../../../runtime/controller.ts';
import type { ObjectRecord } from '../../../runtime/informer/types.ts';

/** A queue that only remembers what was added. */
export class FakeQueue implements WorkQueue {
  readonly name: string;
  readonly added: string[] = [];
  readonly later: { readonly key: string; readonly delayMs: number; readonly because?: string }[] =
    [];

  constructor(name: string) {
    this.name = name;
  }

  add(key: string): void {
    this.added.push(key);
  }

  addAfter(key: string, delayMs: number, because?: string): void {
    this.later.push({ key, delayMs, because });
  }

  addRateLimited(key: string): void {
    this.added.push(key);
  }

  forget(_key: string): void {}

  failures(_key: string): number {
    return 0;
  }

  /** What was added since the last call, sorted, each key once. */
  drain(): readonly string[] {
    return [...new Set(this.added.splice(0))].sort();
  }
}

/** Expectations that never expire. */
export class FakeExpectations implements Expectations {
  readonly #adds = new Map<string, number>();
  readonly #deletes = new Map<string, Set<string>>();

  expect(key: string, _ownerUid: string, adds: number, deleteKeys: readonly string[]): void {
    this.#adds.set(key, adds);
    this.#deletes.set(key, new Set(deleteKeys));
  }

  creationObserved(key: string): void {
    this.#adds.set(key, (this.#adds.get(key) ?? 0) - 1);
  }

  deletionObserved(key: string, podKey: string): void {
    this.#deletes.get(key)?.delete(podKey);
  }

  satisfied(key: string): boolean {
    return (this.#adds.get(key) ?? 0) <= 0 && (this.#deletes.get(key)?.size ?? 0) === 0;
  }

  forget(key: string): void {
    this.#adds.delete(key);
    this.#deletes.delete(key);
  }

  /** What is still awaited for a key. */
  awaited(key: string): { readonly adds: number; readonly deletes: readonly string[] } {
    const deletes = [...(this.#deletes.get(key) ?? [])].sort();
    return { adds: Math.max(0, this.#adds.get(key) ?? 0), deletes };
  }
}

/** An event as it was recorded. */
export interface RecordedEvent {
  readonly about: ObjectReference;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** Remembers events. */
export class FakeEvents implements EventRecorder {
  readonly events: RecordedEvent[] = [];

  event(about: ObjectReference, type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.events.push({ about, type, reason, message });
  }
}

/** Remembers what pods were to be created or deleted; all succeed unless a result is set. */
export class FakePodControl implements PodControl {
  readonly created: PodCreation[] = [];
  readonly deleted: { readonly record: ObjectRecord; readonly because: string }[] = [];
  readonly owners: KubeObject[] = [];
  /** UIDs under an open deletion intent. */
  readonly going = new Set<string>();
  /** The result of the next call only. */
  nextResult: PodBatchResult | undefined;

  async createPods(
    _run: SyncRun,
    owner: KubeObject,
    _ownerKey: string,
    pods: readonly PodCreation[],
  ): Promise<PodBatchResult> {
    this.owners.push(owner);
    this.created.push(...pods);
    return this.#result(pods.length);
  }

  async deletePods(
    _run: SyncRun,
    owner: KubeObject,
    pods: readonly { record: ObjectRecord; because: string }[],
  ): Promise<PodBatchResult> {
    this.owners.push(owner);
    this.deleted.push(...pods);
    return this.#result(pods.length);
  }

  deleting(_ownerUid: string): ReadonlySet<string> {
    return this.going;
  }

  #result(done: number): PodBatchResult {
    const result = this.nextResult ?? { done, notDone: [] };
    this.nextResult = undefined;
    return result;
  }
}
