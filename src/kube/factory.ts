/** Makes the clients of a process: shared connections, an identity and a rate limit for each. */
import { createHash } from 'node:crypto';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { ACCOUNT_NAMESPACE, AccountTokens } from './accounts.ts';
import { WireClient } from './client.ts';
import type { ClientConfig } from './client-config.ts';
import { accountIdentity, configuredIdentity } from './identity.ts';
import { createLimiter } from './limiter.ts';
import { RotatingMaterial } from './material.ts';
import { type ClientMetrics, clientMetrics } from './metrics.ts';
import { type Identity, Transport } from './transport.ts';
import type { ClientFactory, KubeClient, WriteFence } from './types.ts';

/** The manager named in managedFields: upstream's, so that a takeover changes no owner. */
const FIELD_MANAGER = 'kube-controller-manager';

export interface ClientFactoryOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly fence: WriteFence;
  /** --kube-api-qps and --kube-api-burst: for each client that asks for nothing else. */
  readonly qps: number;
  readonly burst: number;
  readonly useServiceAccountCredentials: boolean;
  /** Of the user-agent. */
  readonly version: string;
  /** Default: kube-controller-manager. */
  readonly fieldManager?: string;
  /** BUN_CONFIG_MAX_HTTP_REQUESTS, if the process was started with it. */
  readonly fetchesAtOnce?: number;
}

/**
 * Opens the way to the API server of this configuration; nothing is sent yet. Throws ConfigError
 * if certificates or tokens can't be read, or if the rate limit lets nothing through.
 */
export function createClientFactory(
  config: ClientConfig,
  options: ClientFactoryOptions,
): ClientFactory {
  // Only to have a rate that lets nothing through refused now and not by the first client.
  createLimiter(options.qps, options.burst, options.clock);
  return new Factory(config, options);
}

class Factory implements ClientFactory {
  readonly server: string;
  readonly #options: ClientFactoryOptions;
  readonly #metrics: ClientMetrics;
  readonly #log: Logger;
  readonly #material: RotatingMaterial;
  readonly #transport: Transport;
  readonly #root: Identity;
  readonly #accounts = new Map<string, Identity>();

  constructor(config: ClientConfig, options: ClientFactoryOptions) {
    const { clock, fetchesAtOnce } = options;
    const { server, insecureSkipTlsVerify, tlsServerName, proxyUrl } = config;
    this.server = server;
    this.#options = options;
    this.#log = options.log.named('client');
    const metrics = clientMetrics(options.metrics, new URL(server).host);
    this.#metrics = metrics;
    this.#material = new RotatingMaterial(config, {
      clock,
      log: this.#log,
      caReloaded: (result, reason) => metrics.caReloaded(result, reason),
    });
    this.#transport = new Transport({
      server,
      insecureSkipTlsVerify,
      tlsServerName,
      proxyUrl,
      clock,
      metrics,
      fetchesAtOnce,
    });
    this.#root = configuredIdentity(config, this.#material);
  }

  get caPem(): string {
    return this.#material.current.ca ?? '';
  }

  get caHash(): string {
    return this.caPem === '' ? '' : createHash('sha256').update(this.caPem).digest('hex');
  }

  client(
    name: string,
    options: { qps?: number; burst?: number; account?: string } = {},
  ): KubeClient {
    const { account } = options;
    if (account === undefined || !this.#options.useServiceAccountCredentials) {
      return this.#make(name, options, this.#root);
    }
    const user = `system:serviceaccount:${ACCOUNT_NAMESPACE}:${account}`;
    return this.#make(user, options, this.#identityOf(account));
  }

  close(): void {
    this.#transport.close();
  }

  #make(name: string, limits: { qps?: number; burst?: number }, identity: Identity): KubeClient {
    const { clock, fence, qps, burst } = this.#options;
    return new WireClient({
      transport: this.#transport,
      limiter: createLimiter(limits.qps ?? qps, limits.burst ?? burst, clock),
      clock,
      log: this.#log,
      metrics: this.#metrics,
      userAgent: userAgentOf(this.#options.version, name),
      identity,
      fence,
      fieldManager: this.#options.fieldManager ?? FIELD_MANAGER,
    });
  }

  /** Clients of one account share its token. */
  #identityOf(account: string): Identity {
    const known = this.#accounts.get(account);
    if (known !== undefined) return known;
    const tokens = new AccountTokens(account, {
      root: this.#make('service-account-tokens', {}, this.#root),
      clock: this.#options.clock,
      log: this.#log,
    });
    const identity = accountIdentity(tokens, this.#material);
    this.#accounts.set(account, identity);
    return identity;
  }
}

/** "holdfast/1.0.0 (linux/amd64)/replicaset-controller", after upstream's way to add a name. */
function userAgentOf(version: string, name: string): string {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  return `holdfast/${version} (${process.platform}/${architecture})/${name}`;
}
