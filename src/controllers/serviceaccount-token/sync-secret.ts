/** A token Secret: filled, deleted with its account, or taken out of the account's list. */
import { isConflict, isNotFound } from '../../api/errors.ts';
import { keyOf } from '../../api/meta.ts';
import { SECRETS, SERVICE_ACCOUNTS } from '../../api/resource.ts';
import { type CachedSecret, isAccount } from '../../api/secret.ts';
import type { Secret, ServiceAccount } from '../../api/types/index.ts';
import type { ControllerContext, SyncRun } from '../../runtime/controller.ts';
import type { Lister, SecretRecord } from '../../runtime/informer/types.ts';
import { claimsOf, decide, type Filling, filled } from './decide.ts';
import { deleteToken } from './delete-token.ts';
import { readSecretKey, type SecretKey } from './keys.ts';
import { RightSecrets } from './memory.ts';
import { removeReference } from './references.ts';

type Context = Pick<
  ControllerContext,
  'informers' | 'clock' | 'random' | 'log' | 'memory' | 'rootCaPem'
>;

/** Syncs the keys of Secrets. */
export class SecretSync {
  readonly right: RightSecrets;
  readonly #context: Context;
  readonly #sign: (claims: Record<string, string>) => string;
  readonly #secrets: Lister<CachedSecret, SecretRecord>;
  readonly #accounts: Lister<ServiceAccount>;
  /** The syncs under way of Secrets: filling one changes its key, and two keys of it must not race. */
  readonly #turns = new Map<string, Promise<void>>();

  constructor(context: Context, sign: (claims: Record<string, string>) => string) {
    this.#context = context;
    this.#sign = sign;
    this.right = new RightSecrets(context, context.rootCaPem);
    this.#secrets = context.informers.of<CachedSecret, SecretRecord>(SECRETS).lister;
    this.#accounts = context.informers.of<ServiceAccount>(SERVICE_ACCOUNTS).lister;
  }

  /** One sync. Throws what may go better another time. */
  async sync(key: string, run: SyncRun): Promise<void> {
    const secret = readSecretKey(key);
    const place = keyOf(secret);
    const turn = (this.#turns.get(place) ?? Promise.resolve()).then(() => this.#sync(secret, run));
    const ended = turn.catch(() => undefined);
    this.#turns.set(place, ended);
    try {
      await turn;
    } finally {
      if (this.#turns.get(place) === ended) this.#turns.delete(place);
    }
  }

  async #sync(secret: SecretKey, run: SyncRun): Promise<void> {
    if (secret.account.name === '') return run.note('it names no ServiceAccount');
    const cached = this.#secrets.get(keyOf(secret));
    if (cached?.metadata.uid !== secret.uid) {
      if (this.#cachedAccount(secret) === undefined) return;
      return await removeReference(this.#context, run, secret);
    }
    const account = this.#cachedAccount(secret) ?? (await this.#liveAccount(run, secret));
    if (account === undefined) {
      await deleteToken(run, secret, `its ServiceAccount ${secret.account.name} is gone`);
    } else await this.#fill(run, account, cached);
  }

  #cachedAccount({ namespace, account }: SecretKey): ServiceAccount | undefined {
    const found = this.#accounts.get(keyOf({ namespace, name: account.name }));
    return found !== undefined && isAccount(account, found) ? found : undefined;
  }

  async #liveAccount(
    run: SyncRun,
    { namespace, account }: SecretKey,
  ): Promise<ServiceAccount | undefined> {
    try {
      const at = { namespace, name: account.name };
      const found = await run.client.get<ServiceAccount>(SERVICE_ACCOUNTS, at);
      return isAccount(account, found) ? found : undefined;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async #fill(run: SyncRun, account: ServiceAccount, cached: CachedSecret): Promise<void> {
    const { log, rootCaPem } = this.#context;
    const { namespace = '', name, resourceVersion } = cached.metadata;
    const key = keyOf(cached.metadata);
    if (this.right.has(key, cached)) return;
    const live = await unlessGone(run.client.get<Secret>(SECRETS, { namespace, name }));
    if (live === undefined) return;
    if (live.metadata.resourceVersion !== resourceVersion) {
      log.v(2).info('Secret is not up to date, skipping token population', { secret: key });
      return;
    }
    const filling = decide(live, rootCaPem);
    if (filling === undefined) return this.right.add(key, live, cached.dataDigest);
    const body = this.#filled(live, account, filling);
    if (body === undefined) return;
    const because = `${filling.because}; ServiceAccount ${account.metadata.name} is there`;
    const stored = await unlessGone(
      run.client.update<Secret>(SECRETS, { namespace, name }, body, { because }),
    );
    if (stored !== undefined) this.right.add(key, stored);
  }

  /** Undefined if the key signs nothing: then trying again wouldn't help either. */
  #filled(live: Secret, account: ServiceAccount, filling: Filling): Secret | undefined {
    try {
      const token = filling.needsToken ? this.#sign(claimsOf(account, live)) : '';
      return filled(live, account, filling, token);
    } catch (error) {
      this.#context.log.error('Populating serviceaccount token', error, {
        secret: keyOf(live.metadata),
      });
      return undefined;
    }
  }
}

/** Undefined if it is gone, or another than the one that was read: an event will tell. */
async function unlessGone(answer: Promise<Secret>): Promise<Secret | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isNotFound(error) || isConflict(error)) return undefined;
    throw error;
  }
}
