/** Deleting token Secrets. */
import { FencedError, isConflict, isNotFound } from '../../api/errors.ts';
import { SECRETS } from '../../api/resource.ts';
import type { SyncRun } from '../../runtime/controller.ts';
import type { AccountKey } from './keys.ts';

/** Deletes a Secret under its UID; one that is gone, or another by now, is fine. */
export async function deleteToken(
  run: SyncRun,
  { namespace, name, uid }: AccountKey,
  because: string,
): Promise<void> {
  try {
    await run.client.delete(SECRETS, { namespace, name }, { uid, because });
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}

/** Deletes them one by one, whatever becomes of the others. Throws what failed, all together. */
export async function deleteTokens(
  run: SyncRun,
  secrets: readonly AccountKey[],
  because: string,
): Promise<void> {
  const errors: Error[] = [];
  for (const secret of secrets) {
    try {
      await deleteToken(run, secret, because);
    } catch (error) {
      if (error instanceof FencedError) throw error;
      errors.push(error instanceof Error ? error : new Error(String(error)));
    }
  }
  if (errors.length === 1) throw errors[0];
  if (errors.length > 0) {
    throw new AggregateError(errors, `[${errors.map(({ message }) => message).join(', ')}]`);
  }
}
