/** The API server as the collector uses it: metadata of any kind, each write bound to one UID. */
import { ApiError, isConflict, isNotFound } from '../../api/errors.ts';
import { sameReferences } from '../../api/owners.ts';
import { resourceId } from '../../api/resource.ts';
import type { KubeObject, ObjectMeta } from '../../api/types/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ServedResource, SyncRun } from '../../runtime/controller.ts';
import type { FollowedResources } from '../../runtime/informer/types.ts';
import { NotYet } from '../../runtime/requeue.ts';
import type { Propagation } from './decide.ts';
import { type Identity, identityText } from './identity.ts';
import { keepFinalizers } from './patches.ts';

const UNSUPPORTED_MEDIA_TYPE = 415;
/** Tries of a finalizer's removal, and the waits between them. */
const FINALIZER_TRIES = 4;
const FINALIZER_RETRY_MS = 10;
const FINALIZER_RETRY_FACTOR = 5;

/** A cluster-scoped object names a namespaced owner: nobody can say where that would be. */
export class NoNamespace extends Error {
  constructor() {
    super('cluster-scoped objects cannot refer to namespaced owners');
    this.name = 'NoNamespace';
  }
}

/** Both forms of a patch; the second is made when the kind does not know the first. */
export interface TwoFormPatch {
  readonly strategic: object;
  merged(): object;
}

/** Where an object is found. */
interface Place {
  readonly resource: ServedResource;
  readonly at: { readonly namespace?: string; readonly name: string };
}

/** Reads and writes for one lead. */
export class Server {
  readonly #followed: FollowedResources;
  readonly #clock: Clock;
  /** Resources that refused strategic patches: custom ones do. */
  readonly #mergeOnly = new Set<string>();

  constructor(followed: FollowedResources, clock: Clock) {
    this.#followed = followed;
    this.#clock = clock;
  }

  /** What serves this kind. Throws NotYet if nothing does, as of the last look at the server. */
  resourceOf({ apiVersion, kind }: Pick<Identity, 'apiVersion' | 'kind'>): ServedResource {
    const resource = this.#followed.serving(apiVersion, kind);
    if (resource !== undefined) return resource;
    throw new NotYet(`unable to get REST mapping for ${apiVersion}/${kind}.`);
  }

  /** The metadata as it is now, undefined if there is nothing of that name. Throws NoNamespace. */
  async read(run: SyncRun, identity: Identity): Promise<ObjectMeta | undefined> {
    const { resource, at } = this.#place(identity);
    try {
      const options = { metadataOnly: true };
      return (await run.client.get<KubeObject>(resource, at, options)).metadata;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /**
   * Deletes the object in the version that was read. If it changed meanwhile but its references did
   * not, whatever its version: else a busy object would never go. False if it is gone already.
   */
  async delete(
    run: SyncRun,
    identity: Identity,
    read: ObjectMeta,
    policy: Propagation,
    because: string,
  ): Promise<boolean> {
    const { resource, at } = this.#place(identity);
    const { uid } = identity;
    const options = { uid, propagationPolicy: policy, because };
    try {
      const { resourceVersion } = read;
      await run.client.delete(resource, at, { ...options, resourceVersion });
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      if (!isConflict(error)) throw error;
      const now = await this.read(run, identity);
      if (now === undefined) return false;
      if (now.uid !== uid || now.resourceVersion === read.resourceVersion) throw error;
      if (!sameReferences(now.ownerReferences ?? [], read.ownerReferences ?? [])) throw error;
    }
    try {
      await run.client.delete(resource, at, options);
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  /** Patches metadata in the form that the kind knows. */
  async patch(
    run: SyncRun,
    identity: Identity,
    patch: TwoFormPatch,
    because: string,
  ): Promise<void> {
    const { resource, at } = this.#place(identity);
    const options = { because, metadataOnly: true };
    if (!this.#mergeOnly.has(resourceId(resource))) {
      try {
        await run.client.patch(resource, at, 'strategic', patch.strategic, options);
        return;
      } catch (error) {
        if (!isUnsupported(error)) throw error;
        this.#mergeOnly.add(resourceId(resource));
      }
    }
    await run.client.patch(resource, at, 'merge', patch.merged(), options);
  }

  /**
   * Takes a finalizer off as long as `stillDue`; what was just read spares the first read. An
   * object that is gone, or has it no more, is fine. Throws after four conflicts.
   */
  async removeFinalizer(
    run: SyncRun,
    identity: Identity,
    finalizer: string,
    options: { readonly read?: ObjectMeta; readonly because: string; stillDue(): boolean },
  ): Promise<void> {
    const { resource, at } = this.#place(identity);
    const { because } = options;
    let waitMs = FINALIZER_RETRY_MS;
    let { read } = options;
    for (let left = FINALIZER_TRIES; left > 0; left--) {
      read ??= await this.read(run, identity);
      const { finalizers = [], resourceVersion } = read ?? { resourceVersion: '' };
      const isOurs = read?.uid === identity.uid && finalizers.includes(finalizer);
      if (!isOurs || !options.stillDue()) return;
      const kept = finalizers.filter((one) => one !== finalizer);
      try {
        const body = keepFinalizers(identity.uid, resourceVersion, kept);
        await run.client.patch(resource, at, 'merge', body, { because, metadataOnly: true });
        return;
      } catch (error) {
        if (isNotFound(error)) return;
        if (!isConflict(error)) throw error;
      }
      read = undefined;
      if (left > 1) await this.#clock.sleep(waitMs, run.signal);
      waitMs *= FINALIZER_RETRY_FACTOR;
    }
    const tries = `updateMaxRetries(${FINALIZER_TRIES}) has reached`;
    const later = 'The garbage collector will retry later for owner';
    throw new Error(`${tries}. ${later} ${identityText(identity)}`);
  }

  #place(identity: Identity): Place {
    const resource = this.resourceOf(identity);
    const { name, namespace } = identity;
    if (!resource.namespaced) return { resource, at: { name } };
    if (namespace === '') throw new NoNamespace();
    return { resource, at: { namespace, name } };
  }
}

function isUnsupported(error: unknown): boolean {
  return error instanceof ApiError && error.code === UNSUPPORTED_MEDIA_TYPE;
}
