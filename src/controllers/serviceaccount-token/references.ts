/** Taking a Secret that is gone out of the list of its ServiceAccount. */
import { FencedError, isConflict, isNotFound } from '../../api/errors.ts';
import { SERVICE_ACCOUNTS } from '../../api/resource.ts';
import { isAccount } from '../../api/secret.ts';
import type { ServiceAccount } from '../../api/types/index.ts';
import type { ControllerContext, SyncRun } from '../../runtime/controller.ts';
import type { SecretKey } from './keys.ts';

const CONFLICT_TRIES = 10;
const CONFLICT_WAIT_MS = 100;

/**
 * The ServiceAccount no longer refers to the Secret. Conflicts are tried again, 100 to 200 ms
 * later; what fails otherwise, or ten times, is logged and left, as upstream leaves it.
 */
export async function removeReference(
  { clock, random, log }: Pick<ControllerContext, 'clock' | 'random' | 'log'>,
  run: SyncRun,
  secret: SecretKey,
): Promise<void> {
  for (let tried = 1; ; tried++) {
    try {
      await removeOnce(run, secret);
      return;
    } catch (error) {
      if (error instanceof FencedError) throw error;
      if (!isConflict(error) || tried >= CONFLICT_TRIES) {
        log.error('Removing secret reference', error, { secret: secret.name });
        return;
      }
      await clock.sleep(CONFLICT_WAIT_MS * (1 + random.next()), run.signal);
    }
  }
}

async function removeOnce(run: SyncRun, secret: SecretKey): Promise<void> {
  const { namespace, account } = secret;
  const at = { namespace, name: account.name };
  try {
    const live = await run.client.get<ServiceAccount>(SERVICE_ACCOUNTS, at);
    if (!isAccount(account, live)) return;
    const kept = (live.secrets ?? []).filter(({ name }) => name !== secret.name);
    if (kept.length === (live.secrets ?? []).length) return;
    const because = `its Secret ${secret.name} is gone`;
    await run.client.update(SERVICE_ACCOUNTS, at, { ...live, secrets: kept }, { because });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
