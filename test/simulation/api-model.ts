/**
 * The storage of a model API server: one revision for everything, resourceVersion and UID
 * preconditions, finalizers, graceful deletion, generateName, status apart from spec. What it keeps
 * is never changed in place.
 */
import { JOBS, PODS, type Resource, resourceId } from '../../src/api/resource.ts';
import type { Json, Obj } from '../rig/api.ts';
import { Dice } from './dice.ts';
import { mergePatch, strategicPatch } from './merge-patch.ts';
import type { Timeline } from './timeline.ts';

/** Who wrote. */
export type Actor = 'holdfast' | 'node' | 'user';

/** A change as watches tell it. */
export interface Change {
  readonly resource: string;
  readonly version: number;
  /** Model time. */
  readonly at: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: Obj;
  readonly before: Obj | undefined;
  readonly actor: Actor;
  /** The watch event's line, made when first sent. */
  line?: Uint8Array;
  metadataLine?: Uint8Array;
}

/** An answer other than success. */
export class Refused extends Error {
  constructor(
    readonly code: number,
    readonly reason: string,
    message: string,
    readonly details: object = {},
  ) {
    super(message);
  }
}

/** Kinds whose status is written apart. */
const WITHOUT_STATUS = new Set(['ControllerRevision', 'Lease', 'APIService']);
const GENERATED = 'bcdfghjklmnpqrstvwxz2456789';
const GC_FINALIZERS = ['orphan', 'foregroundDeletion'];

export function keyOf({ metadata }: Obj): string {
  return metadata.namespace === undefined
    ? metadata.name
    : `${metadata.namespace}/${metadata.name}`;
}

function stamp(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

export interface DeleteBody {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagationPolicy?: string;
  readonly gracePeriodSeconds?: number;
}

export class ModelApi {
  /** Version of the newest change. */
  version = 1_000;
  /** Watches may not begin before it. */
  oldest = 1_000;
  readonly #time: Timeline;
  readonly #dice: Dice;
  readonly #objects = new Map<string, Map<string, Obj>>();
  readonly #history = new Map<string, Change[]>();
  readonly #listeners = new Set<(change: Change) => void>();

  constructor(time: Timeline, seed: number) {
    this.#time = time;
    this.#dice = new Dice(seed, 'api');
  }

  /** Calls back at each change, until the function it gives is called. */
  onChange(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  all(resource: Resource): Obj[] {
    return [...this.#of(resource).values()];
  }

  find(resource: Resource, key: string): Obj | undefined {
    return this.#of(resource).get(key);
  }

  /** Changes of a resource that are still known, oldest first. */
  history(id: string): readonly Change[] {
    return this.#history.get(id) ?? [];
  }

  /** Forgets changes older than `version`. */
  compact(version: number): void {
    this.oldest = Math.max(this.oldest, version);
    for (const [id, changes] of this.#history) {
      const kept = changes.filter((one) => one.version > this.oldest);
      this.#history.set(id, kept);
    }
  }

  get(resource: Resource, key: string): Obj {
    const object = this.find(resource, key);
    if (object !== undefined) return object;
    throw new Refused(404, 'NotFound', `${resourceId(resource)} "${key}" not found`);
  }

  create(resource: Resource, namespace: string, body: Obj, actor: Actor): Obj {
    const given = body.metadata ?? {};
    const name: string = given.name || given.generateName + this.#dice.random.text(5, GENERATED);
    const metadata: Json = {
      ...given,
      name,
      ...(resource.namespaced ? { namespace } : {}),
      uid: this.#dice.random.uuid(),
      creationTimestamp: stamp(this.#time.wall),
      generation: 1,
    };
    delete metadata.resourceVersion;
    delete metadata.deletionTimestamp;
    let made: Obj = { ...body, metadata };
    if (!WITHOUT_STATUS.has(resource.kind) && actor === 'holdfast') {
      made = { ...made, status: resource === PODS ? { phase: 'Pending' } : {} };
    }
    if (resource === JOBS) made = withJobDefaults(made);
    const key = keyOf(made);
    if (this.find(resource, key) !== undefined) {
      const details = given.generateName === undefined ? {} : { retryAfterSeconds: 1 };
      const message = `${resourceId(resource)} "${name}" already exists`;
      throw new Refused(409, 'AlreadyExists', message, details);
    }
    return this.#store(resource, made, undefined, actor);
  }

  update(resource: Resource, key: string, body: Obj, subresource: string, actor: Actor): Obj {
    const stored = this.get(resource, key);
    this.#checkMeta(stored, body.metadata ?? {}, true);
    if (subresource === 'status') {
      return this.#write(resource, stored, { ...stored, status: body.status }, actor);
    }
    const { uid, creationTimestamp, generation, deletionTimestamp, deletionGracePeriodSeconds } =
      stored.metadata;
    const kept = { uid, creationTimestamp, generation };
    const going =
      deletionTimestamp === undefined ? {} : { deletionTimestamp, deletionGracePeriodSeconds };
    const metadata = { ...body.metadata, ...kept, ...going };
    const next: Obj = { ...body, metadata };
    if (!WITHOUT_STATUS.has(resource.kind)) next.status = stored.status;
    return this.#write(resource, stored, next, actor);
  }

  patch(
    resource: Resource,
    key: string,
    patch: Obj,
    { kind, subresource, actor }: { kind: string; subresource: string; actor: Actor },
  ): Obj {
    const stored = this.get(resource, key);
    this.#checkMeta(stored, patch.metadata ?? {}, false);
    const apply = kind.includes('strategic') ? strategicPatch : mergePatch;
    const patched: Obj = apply(stored, patch);
    if (subresource === 'status') {
      return this.#write(resource, stored, { ...stored, status: patched.status }, actor);
    }
    if (!WITHOUT_STATUS.has(resource.kind)) patched.status = stored.status;
    patched.metadata = { ...patched.metadata, resourceVersion: stored.metadata.resourceVersion };
    return this.#write(resource, stored, patched, actor);
  }

  delete(resource: Resource, key: string, options: DeleteBody, actor: Actor): Obj {
    const stored = this.get(resource, key);
    const { uid, resourceVersion } = options;
    const { metadata } = stored;
    const differs =
      (uid !== undefined && uid !== metadata.uid) ||
      (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion);
    if (differs) {
      throw new Refused(409, 'Conflict', `Precondition failed: ${key} is another one`);
    }
    const next = this.#finalizersFor(stored, options.propagationPolicy);
    const grace = this.#graceOf(resource, stored, options);
    if (metadata.deletionTimestamp !== undefined) {
      const left = metadata.deletionGracePeriodSeconds ?? 0;
      if (grace >= left && next === metadata.finalizers) return stored;
    }
    const going = {
      ...metadata,
      finalizers: next,
      deletionTimestamp: stamp(this.#time.wall + grace * 1e3),
      deletionGracePeriodSeconds: grace,
      generation: metadata.generation + (metadata.deletionTimestamp === undefined ? 1 : 0),
    };
    if (next.length === 0) delete going.finalizers;
    return this.#write(resource, stored, { ...stored, metadata: going }, actor);
  }

  #graceOf(resource: Resource, stored: Obj, options: DeleteBody): number {
    if (resource !== PODS) return 0;
    const { nodeName, terminationGracePeriodSeconds = 30 } = stored.spec;
    const over = ['Succeeded', 'Failed'].includes(stored.status?.phase);
    if (!nodeName || over) return 0;
    return options.gracePeriodSeconds ?? terminationGracePeriodSeconds;
  }

  #finalizersFor({ metadata }: Obj, policy: string | undefined): string[] {
    const all: string[] = metadata.finalizers ?? [];
    if (policy === undefined) return all;
    const others = all.filter((one) => !GC_FINALIZERS.includes(one));
    if (policy === 'Orphan') return [...others, 'orphan'];
    if (policy === 'Foreground') return [...others, 'foregroundDeletion'];
    return others;
  }

  #checkMeta(stored: Obj, sent: Json, whole: boolean): void {
    const { uid, resourceVersion } = stored.metadata;
    const key = keyOf(stored);
    if (sent.uid !== undefined && sent.uid !== uid) {
      if (whole) throw new Refused(409, 'Conflict', `Precondition failed: UID of ${key}`);
      const causes = [{ field: 'metadata.uid', reason: 'FieldValueInvalid' }];
      throw new Refused(422, 'Invalid', `${key}: metadata.uid is immutable`, { causes });
    }
    if (sent.resourceVersion && sent.resourceVersion !== resourceVersion) {
      throw new Refused(409, 'Conflict', `${key}: the object has been modified`);
    }
  }

  /** An object that waits for nothing more goes with the write that ended its wait. */
  #write(resource: Resource, stored: Obj, next: Obj, actor: Actor): Obj {
    const { deletionTimestamp, deletionGracePeriodSeconds, finalizers = [] } = next.metadata;
    const gone = deletionTimestamp !== undefined && !finalizers.length;
    if (gone && (deletionGracePeriodSeconds ?? 0) === 0) {
      return this.#remove(resource, stored, next, actor);
    }
    const changed = JSON.stringify(next.spec) !== JSON.stringify(stored.spec);
    const generation = next.metadata.generation + (changed ? 1 : 0);
    const metadata = { ...next.metadata, generation };
    const same = { ...next, metadata: { ...metadata, resourceVersion: undefined } };
    const old = { ...stored, metadata: { ...stored.metadata, resourceVersion: undefined } };
    if (Bun.deepEquals(JSON.parse(JSON.stringify(same)), JSON.parse(JSON.stringify(old)))) {
      return stored;
    }
    return this.#store(resource, { ...next, metadata }, stored, actor);
  }

  #store(resource: Resource, next: Obj, before: Obj | undefined, actor: Actor): Obj {
    const resourceVersion = String(++this.version);
    const object: Obj = JSON.parse(
      JSON.stringify({ ...next, metadata: { ...next.metadata, resourceVersion } }),
    );
    this.#of(resource).set(keyOf(object), object);
    this.#tell(resource, before === undefined ? 'ADDED' : 'MODIFIED', object, before, actor);
    return object;
  }

  #remove(resource: Resource, before: Obj, last: Obj, actor: Actor): Obj {
    const metadata = { ...last.metadata, resourceVersion: String(++this.version) };
    const object: Obj = { ...last, metadata };
    this.#of(resource).delete(keyOf(before));
    this.#tell(resource, 'DELETED', object, before, actor);
    return object;
  }

  #tell(
    resource: Resource,
    type: Change['type'],
    object: Obj,
    before: Obj | undefined,
    actor: Actor,
  ): void {
    const id = resourceId(resource);
    const { version } = this;
    const change = { resource: id, version, at: this.#time.now, type, object, before, actor };
    const known = this.#history.get(id);
    if (known === undefined) this.#history.set(id, [change]);
    else known.push(change);
    for (const listener of this.#listeners) listener(change);
  }

  #of(resource: Resource): Map<string, Obj> {
    const id = resourceId(resource);
    const known = this.#objects.get(id);
    if (known !== undefined) return known;
    const made = new Map<string, Obj>();
    this.#objects.set(id, made);
    return made;
  }
}

/** What the real server adds to a Job: its selector and the labels that match it. */
function withJobDefaults(job: Obj): Obj {
  const { uid, name } = job.metadata;
  const { template } = job.spec;
  const labels = {
    ...template.metadata?.labels,
    'batch.kubernetes.io/controller-uid': uid,
    'controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'job-name': name,
  };
  const spec = {
    parallelism: 1,
    completionMode: 'NonIndexed',
    backoffLimit: 6,
    suspend: false,
    podReplacementPolicy: 'TerminatingOrFailed',
    ...job.spec,
    selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } },
    template: { ...template, metadata: { ...template.metadata, labels } },
  };
  if (spec.completions === undefined && job.spec.parallelism === undefined) spec.completions = 1;
  return { ...job, spec };
}
