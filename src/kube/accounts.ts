/** --use-service-account-credentials: each controller's own token, as upstream's builder. */
import { FencedError, isAlreadyExists, isNotFound, TransportError } from '../api/errors.ts';
import { NAMESPACES, SERVICE_ACCOUNTS } from '../api/resource.ts';
import type { KubeObject } from '../api/types/index.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { KubeClient } from './types.ts';

/** Where the accounts live. */
export const ACCOUNT_NAMESPACE = 'kube-system';

const TOKEN_SECONDS = 3_600;
/** Clocks may differ: no token is taken for shorter-lived than the server's own minimum. */
const TOKEN_SECONDS_LEAST = 600;
/** A token is renewed when this part of its life is left. */
const TOKEN_LEEWAY = 0.2;
const TRIES = 4;
const FIRST_DELAY_MS = 500;

interface Token {
  readonly text: string;
  readonly obtainedAt: number;
  readonly renewAt: number;
}

interface TokenAnswer extends KubeObject {
  readonly spec?: { readonly expirationSeconds?: number };
  readonly status?: { readonly token?: string; readonly expirationTimestamp?: string };
}

export interface AccountDeps {
  /** A client with the identity of the kubeconfig. */
  readonly root: KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The tokens of one service account. */
export class AccountTokens {
  readonly #account: string;
  readonly #deps: AccountDeps;
  #token: Token | undefined;
  #renewing: Promise<Token> | undefined;

  constructor(account: string, deps: AccountDeps) {
    this.#account = account;
    this.#deps = deps;
  }

  /** A token that needs no renewal yet, undefined if there is none. */
  get atHand(): string | undefined {
    const known = this.#token;
    return known && this.#deps.clock.monotonic() < known.renewAt ? known.text : undefined;
  }

  /**
   * A token to send now. A token that can't be renewed is used further, as upstream; without any
   * it throws TransportError, or FencedError if the account had to be created and may not be.
   */
  async token(): Promise<string> {
    const { atHand } = this;
    if (atHand !== undefined) return atHand;
    const known = this.#token;
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined;
    });
    try {
      return (await this.#renewing).text;
    } catch (error) {
      if (known === undefined || this.#token === undefined) throw error;
      this.#deps.log.error('unable to rotate token', error, { account: this.#account });
      return known.text;
    }
  }

  /** The server refused the token sent at this time: forget it unless a newer one is there. */
  refused(sentAt: number): void {
    if (this.#token !== undefined && this.#token.obtainedAt <= sentAt) this.#token = undefined;
  }

  async #renew(): Promise<Token> {
    let cause: unknown;
    for (let tried = 0; tried < TRIES; tried++) {
      if (tried > 0) await this.#deps.clock.sleep(FIRST_DELAY_MS * 2 ** (tried - 1));
      try {
        await this.#ensureAccount();
        this.#token = await this.#request();
        return this.#token;
      } catch (error) {
        if (error instanceof FencedError) throw error;
        cause = error;
        const account = this.#account;
        this.#deps.log.warning('get token failed', { account, error: String(error) });
      }
    }
    const who = `${ACCOUNT_NAMESPACE}/${this.#account}`;
    throw new TransportError(`failed to get token for ${who}: ${String(cause)}`, cause);
  }

  async #request(): Promise<Token> {
    const at = { namespace: ACCOUNT_NAMESPACE, name: this.#account, subresource: 'token' };
    const body = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: TOKEN_SECONDS },
    };
    const answer = await this.#deps.root.create<TokenAnswer>(SERVICE_ACCOUNTS, at, body);
    const text = answer.status?.token;
    if (text === undefined || text === '') throw new TransportError('the answer has no token');
    const now = this.#deps.clock.monotonic();
    const lifeMs = this.#lifeSeconds(answer) * 1e3;
    return { text, obtainedAt: now, renewAt: now + lifeMs * (1 - TOKEN_LEEWAY) };
  }

  /** Seconds the token will be good, trusting neither clock too much. */
  #lifeSeconds(answer: TokenAnswer): number {
    const granted = answer.spec?.expirationSeconds ?? TOKEN_SECONDS;
    const expiresAt = Date.parse(answer.status?.expirationTimestamp ?? '');
    const left = (expiresAt - this.#deps.clock.now()) / 1e3;
    if (Number.isNaN(left)) return granted;
    return Math.min(granted, Math.max(left, TOKEN_SECONDS_LEAST));
  }

  async #ensureAccount(): Promise<void> {
    const { root } = this.#deps;
    const at = { namespace: ACCOUNT_NAMESPACE, name: this.#account };
    if (await exists(() => root.get(SERVICE_ACCOUNTS, at))) return;
    await this.#ensureNamespace();
    const body = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: at };
    try {
      await root.create(SERVICE_ACCOUNTS, { namespace: ACCOUNT_NAMESPACE }, body);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }

  /** As upstream: whether we may create namespaces isn't known, so a refusal is only logged. */
  async #ensureNamespace(): Promise<void> {
    const { root, log } = this.#deps;
    const metadata = { name: ACCOUNT_NAMESPACE };
    try {
      if (await exists(() => root.get(NAMESPACES, metadata))) return;
      await root.create(NAMESPACES, {}, { apiVersion: 'v1', kind: 'Namespace', metadata });
    } catch (error) {
      if (error instanceof FencedError) throw error;
      if (isAlreadyExists(error)) return;
      const namespace = ACCOUNT_NAMESPACE;
      log.warning('could not make sure of the namespace', { namespace, error: String(error) });
    }
  }
}

async function exists(get: () => Promise<unknown>): Promise<boolean> {
  try {
    await get();
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
