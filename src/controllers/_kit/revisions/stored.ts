/** Stored ControllerRevisions: whole ones from records, and the calls that change them. */
import { CONTROLLER_REVISIONS } from '../../../api/resource.ts';
import type { ControllerRevision } from '../../../api/types/index.ts';
import type { SyncRun } from '../../../runtime/controller.ts';
import type { Lister, ObjectRecord } from '../../../runtime/informer/types.ts';
import { type NewRevision, revisionBody } from './create.ts';

/** The whole revisions behind their records; one that went meanwhile is left out. */
export function wholeRevisions(
  lister: Pick<Lister<ControllerRevision>, 'get'>,
  records: readonly ObjectRecord[],
): readonly ControllerRevision[] {
  return records.flatMap(({ key, uid }) => {
    const revision = lister.get(key);
    return revision?.metadata.uid === uid ? [revision] : [];
  });
}

/** Creates a revision with exactly the bytes of its data. */
export async function createRevision(
  { client }: SyncRun,
  namespace: string,
  revision: NewRevision,
  because: string,
): Promise<ControllerRevision> {
  const at = { namespace, name: revision.metadata.name };
  return await client.create(CONTROLLER_REVISIONS, at, revisionBody(revision), { because });
}

/** Reads a revision from the server. */
export async function fetchRevision(
  { client }: SyncRun,
  namespace: string,
  name: string,
): Promise<ControllerRevision> {
  return await client.get(CONTROLLER_REVISIONS, { namespace, name });
}

/**
 * Changes number or labels of a revision, if it is still as it was read. A patch leaves the data as
 * it is stored, which a whole object might not.
 */
export async function patchRevision(
  { client }: SyncRun,
  revision: ControllerRevision,
  patch: { readonly revision?: number; readonly labels?: Readonly<Record<string, string>> },
  because: string,
): Promise<ControllerRevision> {
  const { namespace, name, uid, resourceVersion } = revision.metadata;
  const { labels, ...rest } = patch;
  const metadata = { uid, resourceVersion, ...(labels && { labels }) };
  const at = { namespace, name };
  return await client.patch(CONTROLLER_REVISIONS, at, 'merge', { metadata, ...rest }, { because });
}

/** Deletes a revision, if it is still as it was read. */
export async function deleteRevision(
  { client }: SyncRun,
  revision: ControllerRevision,
  because: string,
): Promise<void> {
  const { namespace, name, uid, resourceVersion } = revision.metadata;
  const options = { uid, resourceVersion, because };
  await client.delete(CONTROLLER_REVISIONS, { namespace, name }, options);
}
