/**
 * serviceaccount-token-controller: fills Secrets that ask for the token of a ServiceAccount,
 * deletes them with their account, and takes those that are gone out of the account's list. It
 * makes no Secrets by itself.
 */
import { keyOf } from '../../api/meta.ts';
import { SECRETS, SERVICE_ACCOUNTS } from '../../api/resource.ts';
import { type CachedSecret, isAccount } from '../../api/secret.ts';
import type { ServiceAccount } from '../../api/types/index.ts';
import type {
  Controller,
  ControllerContext,
  ControllerDefinition,
  SyncRun,
} from '../../runtime/controller.ts';
import type { SecretRecord } from '../../runtime/informer/types.ts';
import { deleteTokens } from './delete-token.ts';
import { accountKey, readAccountKey, secretKey } from './keys.ts';
import { SecretSync } from './sync-secret.ts';

const WORKERS_FLAG = 'concurrent-serviceaccount-token-syncs';
const KEY_FLAG = 'service-account-private-key-file';
/** Of both queues. */
const QUEUE = 'serviceaccount_tokens_service';
const RETRIES_MAX = 10;

/** The passport of the token controller. */
export const serviceAccountTokenController: ControllerDefinition = {
  name: 'serviceaccount-token-controller',
  aliases: ['serviceaccount-token'],
  gates: [],
  enabledByDefault: true,
  account: 'tokens-controller',
  rootClient: true,
  watches: [SERVICE_ACCOUNTS, SECRETS],
  writes: ['secrets update/delete', 'serviceaccounts update'],
  flags: [WORKERS_FLAG, KEY_FLAG, 'root-ca-file'],
  idle: (flags) => (flags[KEY_FLAG] ? undefined : 'there is no private key'),
  build,
};

function build(context: ControllerContext): Controller | undefined {
  const { informers, tokenSigner, flags } = context;
  if (tokenSigner === undefined) return undefined;
  const accounts = informers.of<ServiceAccount>(SERVICE_ACCOUNTS);
  const secrets = informers.of<CachedSecret, SecretRecord>(SECRETS);
  const accountQueue = context.queue(QUEUE, { storedAs: `${QUEUE}/accounts` });
  const secretQueue = context.queue(QUEUE, { storedAs: `${QUEUE}/secrets` });
  const sync = new SecretSync(context, (claims) => tokenSigner.sign(claims));

  accounts.addHandler({
    add: (account) => accountQueue.add(accountKey(account)),
    update: (account) => accountQueue.add(accountKey(account)),
    delete: (account) => accountQueue.add(accountKey(account)),
  });
  const changed = (secret: SecretRecord): void => {
    if (secret.tokenOf !== undefined) secretQueue.add(secretKey(secret, secret.tokenOf));
  };
  secrets.addHandler({
    add: changed,
    update: changed,
    delete: (secret, stale) => {
      sync.right.delete(secret.key);
      // As upstream, which can't tell what a Secret was whose deletion it did not see.
      if (!stale) changed(secret);
    },
  });

  /** An account that is gone, or another by now, leaves no token behind. */
  const syncAccount = async (key: string, run: SyncRun): Promise<void> => {
    const { namespace, name, uid } = readAccountKey(key);
    if (accounts.lister.record(keyOf({ namespace, name }))?.uid === uid) return;
    const tokens = secrets.lister
      .list(namespace)
      .filter(({ tokenOf }) => tokenOf && isAccount(tokenOf, { metadata: { name, uid } }));
    await deleteTokens(run, tokens, `ServiceAccount ${name} is gone`);
  };

  const shared = { workers: Number(flags[WORKERS_FLAG]), retriesMax: RETRIES_MAX };
  return {
    queues: [
      { ...shared, queue: accountQueue, announcesNothing: true, reconcile: syncAccount },
      {
        ...shared,
        queue: secretQueue,
        announcesNothing: true,
        reconcile: (key, run) => sync.sync(key, run),
      },
    ],
  };
}
