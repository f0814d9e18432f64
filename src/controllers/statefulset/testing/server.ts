/** An API server for tests of decisions: answers their steps from objects held in memory. */
import type { ApiError } from '../../../api/errors.ts';
import { controllerReference, keyOf } from '../../../api/meta.ts';
import { podRecordFields } from '../../../api/pod.ts';
import { STATEFUL_SETS } from '../../../api/resource.ts';
import { timeText } from '../../../api/time.ts';
import type {
  ControllerRevision,
  KubeObject,
  ObjectMeta,
  PersistentVolumeClaim,
  Pod,
  StatefulSet,
} from '../../../api/types/index.ts';
import type { PodRecord } from '../../../runtime/informer/types.ts';
import { refusal } from '../../_kit/testing/fake-run.ts';
import type { Action, Steps } from '../actions.ts';
import { decide, type StatefulSetConfig } from '../decide.ts';
import { type Member, memberOf } from '../members.ts';
import { NOON } from './build.ts';

export const CONFIG: StatefulSetConfig = { maxUnavailable: false, semanticRevisions: true };

type Draft = {
  readonly kind?: string;
  readonly spec?: object;
  readonly status?: object;
  readonly metadata: Partial<ObjectMeta> & { readonly name: string };
};

/** A table of objects by name. */
class Table<T extends KubeObject> extends Map<string, T> {
  put(object: T): void {
    this.set(object.metadata.name, object);
  }
}

export class Server {
  set: StatefulSet;
  readonly pods = new Table<Pod>();
  readonly claims = new Table<PersistentVolumeClaim>();
  readonly revisions = new Table<ControllerRevision>();
  readonly actions: Action[] = [];
  now = NOON;
  /** Refuses a step; undefined lets it pass. */
  refuse: (action: Action) => ApiError | undefined = () => undefined;
  /** UIDs whose deletion is announced. */
  readonly going = new Set<string>();
  #version = 100;
  #uids = 0;

  constructor(set: StatefulSet, ...objects: readonly (Pod | PersistentVolumeClaim)[]) {
    this.set = set;
    for (const object of objects) {
      if (object.kind === 'Pod') this.pods.put(object as Pod);
      else this.claims.put(object as PersistentVolumeClaim);
    }
  }

  /** Its pods as a sync sees them; `pods`: an older view of them. */
  members(pods: Iterable<Pod> = this.pods.values()): Member[] {
    const records = Array.from(pods, (pod) => podRecordFields(pod));
    return records.map((record) => memberOf(record, this.going.has(record.uid)));
  }

  /** Runs one sync and gives the steps it took. Throws what the sync throws. */
  sync(config = CONFIG, pods?: Iterable<Pod>): readonly Action[] {
    const revisions = [...this.revisions.values()];
    const observed = { set: this.set, pods: this.members(pods), revisions };
    const from = this.actions.length;
    this.play(decide(observed, this.now, config));
    return this.actions.slice(from);
  }

  /** As `sync`, but gives the error that the sync threw, too. */
  trySync(config = CONFIG): { readonly actions: readonly Action[]; readonly error?: Error } {
    const from = this.actions.length;
    try {
      return { actions: this.sync(config) };
    } catch (error) {
      return { actions: this.actions.slice(from), error: error as Error };
    }
  }

  /** Carries steps out to their end and gives what they come to. */
  play<T>(steps: Steps<T>): T {
    let step = steps.next();
    while (!step.done) {
      const action = step.value;
      this.actions.push(action);
      let answer: KubeObject | undefined;
      try {
        const refused = this.refuse(action);
        if (refused !== undefined) throw refused;
        answer = this.#answer(action);
      } catch (error) {
        step = steps.throw(error);
        continue;
      }
      step = steps.next(answer);
    }
    return step.value;
  }

  /** Changes the set's spec as a person would. */
  edit(spec: Partial<NonNullable<StatefulSet['spec']>>): void {
    const { metadata } = this.set;
    this.set = {
      ...this.set,
      metadata: this.#meta({ ...metadata, generation: (metadata.generation ?? 1) + 1 }),
      spec: this.set.spec && { ...this.set.spec, ...spec },
    };
  }

  /** Changes a pod's status or metadata as its kubelet would. */
  patch(name: string, change: (pod: Pod) => Pod): void {
    const pod = this.pods.get(name);
    if (pod === undefined) throw new Error(`no pod ${name}`);
    const changed = change(pod);
    this.pods.put({ ...changed, metadata: this.#meta(changed.metadata) });
  }

  /** Makes a pod run, ready or not. */
  run(name: string, ready = true, phase = 'Running'): void {
    const condition = {
      type: 'Ready',
      status: ready ? 'True' : 'False',
      lastTransitionTime: timeText(this.now),
    };
    this.patch(name, (pod) => ({ ...pod, status: { phase, conditions: [condition] } }));
  }

  #meta(metadata: Partial<ObjectMeta> & { readonly name: string }): ObjectMeta {
    const resourceVersion = String(++this.#version);
    return { uid: `made-${++this.#uids}`, namespace: 'default', ...metadata, resourceVersion };
  }

  #answer(action: Action): KubeObject | undefined {
    switch (action.kind) {
      case 'readPod':
        return found(this.pods, action);
      case 'readClaim':
        return found(this.claims, action);
      case 'createPod':
        return this.#createPod(action.pod);
      case 'deletePod':
        return this.#deletePod(action.record);
      case 'updatePod':
        return this.#replace(this.pods, action.pod);
      case 'updateClaim':
        return this.#replace(this.claims, action.claim);
      case 'createClaim':
        return this.#create(this.claims, action.claim);
      case 'createRevision':
        return this.#create(this.revisions, action.revision);
      case 'readRevision':
        return found(this.revisions, { ...action, live: true });
      case 'renumberRevision':
        return this.#replace(this.revisions, { ...action.revision, revision: action.to });
      case 'deleteRevision':
        current(this.revisions, action.revision);
        this.revisions.delete(action.revision.metadata.name);
        return undefined;
      case 'updateStatus':
        this.set = { ...this.set, metadata: this.#meta(this.set.metadata), status: action.status };
        return this.set;
      case 'sideBySide':
        return this.#sideBySide(action.steps);
      default:
        return undefined;
    }
  }

  #createPod({ name, template }: Member): undefined {
    const ownerReferences = [controllerReference(this.set.metadata, STATEFUL_SETS)];
    const { labels, annotations } = template?.metadata ?? {};
    const metadata = { name, labels, annotations, ownerReferences };
    const status = { phase: 'Pending' };
    this.#create(this.pods, { kind: 'Pod', metadata, spec: template?.spec, status });
    return undefined;
  }

  /** A running pod terminates; one that never ran goes at once. */
  #deletePod({ name, uid }: PodRecord): undefined {
    const pod = this.pods.get(name);
    if (pod === undefined || pod.metadata.uid !== uid) return undefined;
    const deletionTimestamp = timeText(this.now);
    this.patch(name, (stored) => ({
      ...stored,
      metadata: { ...stored.metadata, deletionTimestamp },
    }));
    return undefined;
  }

  #create<T extends KubeObject>(table: Table<T>, body: Draft): T {
    const { name } = body.metadata;
    if (table.has(name)) throw refusal(409, 'AlreadyExists', `"${name}" already exists`);
    const creationTimestamp = timeText(this.now);
    const metadata = this.#meta({ ...body.metadata, creationTimestamp });
    const stored = { ...body, metadata } as unknown as T;
    table.put(stored);
    return stored;
  }

  /** In batches of 1, 2, 4, ...; the first batch with an error is the last one. */
  #sideBySide(steps: readonly Steps<unknown>[]): undefined {
    for (let from = 0, size = 1; from < steps.length; from += size, size *= 2) {
      const errors: unknown[] = [];
      for (const one of steps.slice(from, from + size)) {
        try {
          this.play(one);
        } catch (error) {
          errors.push(error);
        }
      }
      if (errors.length > 0) throw errors[0];
    }
    return undefined;
  }

  #replace<T extends KubeObject>(table: Table<T>, body: T): T {
    current(table, body);
    const stored = { ...body, metadata: this.#meta(body.metadata) };
    table.put(stored);
    return stored;
  }
}

function found<T extends KubeObject>(
  table: Table<T>,
  { name, live }: { readonly name: string; readonly live?: boolean },
): T | undefined {
  const object = table.get(name);
  if (object === undefined && live) throw refusal(404, 'NotFound', `"${name}" not found`);
  return object;
}

function current<T extends KubeObject>(table: Table<T>, sent: T): void {
  const stored = table.get(sent.metadata.name);
  if (stored === undefined) throw refusal(404, 'NotFound', `${keyOf(sent.metadata)} not found`);
  const { uid, resourceVersion } = stored.metadata;
  const same = uid === sent.metadata.uid && resourceVersion === sent.metadata.resourceVersion;
  if (!same) throw refusal(409, 'Conflict', `${keyOf(sent.metadata)} has been modified`);
}
