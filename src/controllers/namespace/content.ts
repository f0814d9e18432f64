/** Deletes all objects of one kind in a namespace and tells what is left. */
import { ApiError, isConflict, isNotFound } from '../../api/errors.ts';
import { PODS } from '../../api/resource.ts';
import type { KubeObject, Namespace, Pod } from '../../api/types/index.ts';
import type { ServedResource, SyncRun } from '../../runtime/controller.ts';
import { kindText, supports } from './kinds.ts';
import { graceSeconds, NOTHING_LEFT, type Remainder, remainderOf } from './remaining.ts';

const METHOD_NOT_ALLOWED = 405;

/** Objects are still there though their deletion succeeded and nothing explains it. */
export class UnexpectedItemsError extends Error {
  constructor(namespace: string, kind: ServedResource) {
    super(`unexpected items still remain in namespace: ${namespace} for gvr: ${kindText(kind)}`);
    this.name = 'UnexpectedItemsError';
  }
}

/** What became of one kind. */
export interface KindOutcome {
  readonly remainder: Remainder;
  readonly error?: unknown;
}

/** True for pods, whose deletion takes time and comes before all else. */
export function isPods({ group, version, plural }: ServedResource): boolean {
  return group === PODS.group && version === PODS.version && plural === PODS.plural;
}

/** Deletes a kind; the estimate of the pods' grace is kept where the deletion itself fails. */
export async function deleteKind(
  run: SyncRun,
  namespace: Namespace,
  kind: ServedResource,
): Promise<KindOutcome> {
  const { name } = namespace.metadata;
  let grace = 0;
  try {
    if (kind.group === PODS.group && kind.plural === PODS.plural) {
      const pods = await run.client.listAll<Pod>(PODS, { namespace: name });
      grace = graceSeconds(pods, namespace, run.now);
    }
    if (!(await deleteCollection(run, name, kind))) await deleteOneByOne(run, name, kind);
    const items = await list(run, name, kind);
    if (items === undefined) return { remainder: { ...NOTHING_LEFT, estimateSeconds: grace } };
    const remainder = remainderOf(items, grace);
    if (!remainder.unexpected) return { remainder };
    return { remainder, error: new UnexpectedItemsError(name, kind) };
  } catch (error) {
    return { remainder: { ...NOTHING_LEFT, estimateSeconds: grace }, error };
  }
}

/** False if the kind can't be deleted as a collection. */
async function deleteCollection(
  run: SyncRun,
  namespace: string,
  kind: ServedResource,
): Promise<boolean> {
  if (!supports(kind, 'deletecollection')) return false;
  try {
    await run.client.deleteCollection(kind, namespace, {
      propagationPolicy: 'Background',
      because: `namespace ${namespace} is being deleted: all ${kind.plural} go`,
    });
    return true;
  } catch (error) {
    if (isUnsupported(error)) return false;
    throw error;
  }
}

async function deleteOneByOne(
  run: SyncRun,
  namespace: string,
  kind: ServedResource,
): Promise<void> {
  for (const { metadata } of (await list(run, namespace, kind)) ?? []) {
    const { name, uid } = metadata;
    const because = `namespace ${namespace} is being deleted: ${kind.kind} ${name} goes`;
    try {
      await run.client.delete(
        kind,
        { namespace, name },
        { uid, propagationPolicy: 'Background', because },
      );
    } catch (error) {
      // After a conflict another object has this name: what is left is listed anyway.
      if (!isUnsupported(error) && !isConflict(error)) throw error;
    }
  }
}

/** Metadata of all objects of the kind; undefined if it can't be listed. */
async function list(
  run: SyncRun,
  namespace: string,
  kind: ServedResource,
): Promise<readonly KubeObject[] | undefined> {
  if (!supports(kind, 'list')) return undefined;
  try {
    return await run.client.listAll<KubeObject>(kind, { namespace, metadataOnly: true });
  } catch (error) {
    if (isUnsupported(error)) return undefined;
    throw error;
  }
}

/** Not found, or the method isn't allowed: the kind (or the object) is not there to be asked. */
function isUnsupported(error: unknown): boolean {
  return isNotFound(error) || (error instanceof ApiError && error.code === METHOD_NOT_ALLOWED);
}
