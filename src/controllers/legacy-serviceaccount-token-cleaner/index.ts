/**
 * legacy-serviceaccount-token-cleaner-controller: once a day it marks tokens that were made by
 * themselves and that nobody used for long, and deletes those that have been marked for as long.
 * `decide.ts` says which.
 */
import { FencedError, isConflict, isNotFound } from '../../api/errors.ts';
import { formatGoDuration } from '../../api/go-duration.ts';
import { keyOf } from '../../api/meta.ts';
import { apiVersionOf, CONFIG_MAPS, PODS, SECRETS, SERVICE_ACCOUNTS } from '../../api/resource.ts';
import { type CachedSecret, isAccount } from '../../api/secret.ts';
import type { ConfigMap, ServiceAccount } from '../../api/types/index.ts';
import type {
  Controller,
  ControllerContext,
  ControllerDefinition,
  ControllerFlags,
  SyncRun,
} from '../../runtime/controller.ts';
import { ObjectUnavailable } from '../../runtime/informer/cache.ts';
import type { SecretRecord } from '../../runtime/informer/types.ts';
import { waitsForCaches } from '../_kit/caught-up.ts';
import {
  type Decision,
  dateMs,
  decide,
  INVALID_SINCE,
  isUnused,
  type Round,
  trackedLongEnough,
} from './decide.ts';
import { NamedByPods } from './pods.ts';

const NAME = 'legacy-serviceaccount-token-cleaner-controller';
const PERIOD_FLAG = 'legacy-service-account-token-clean-up-period';
const INTERVAL_MS = 24 * 3_600_000;
const NANOSECONDS_PER_MS = 1e6;
/** The one key of the queue of rounds. */
const ROUND = 'all tokens';
/** Where the API server says since when it notes which tokens are used. */
const TRACKING = {
  namespace: 'kube-system',
  name: 'kube-apiserver-legacy-service-account-token-tracking',
};
const SINCE_KEY = 'since';

/** The passport of the cleaner of legacy tokens. */
export const legacyServiceAccountTokenCleanerController: ControllerDefinition = {
  name: NAME,
  aliases: ['legacy-service-account-token-cleaner'],
  gates: [],
  enabledByDefault: true,
  account: 'legacy-service-account-token-cleaner',
  watches: [SERVICE_ACCOUNTS, SECRETS, PODS],
  writes: ['secrets patch/delete'],
  flags: [PERIOD_FLAG],
  refuses,
  build,
};

function refuses(flags: ControllerFlags): string | undefined {
  const periodMs = Number(flags[PERIOD_FLAG]);
  if (periodMs > 0) return undefined;
  const period = formatGoDuration(BigInt(Math.round(periodMs * NANOSECONDS_PER_MS)));
  return `failed to init the legacy service account token cleaner: invalid CleanUpPeriod: ${period}`;
}

function build(context: ControllerContext): Controller {
  const rounds = context.queue('', { storedAs: NAME });
  const { informers } = context;
  const cleaner = new Cleaner(context);
  const caches = [
    informers.pods(),
    informers.of<CachedSecret, SecretRecord>(SECRETS),
    informers.of<ServiceAccount>(SERVICE_ACCOUNTS),
  ];
  const reconcile = async (_key: string, run: SyncRun): Promise<void> => {
    // A token that a pod names must not go because that pod isn't known yet.
    if (waitsForCaches(run, () => caches.every((cache) => cache.caughtUp()))) return;
    await cleaner.round(run);
    run.again(INTERVAL_MS, 'the next round');
  };
  return {
    start: () => rounds.add(ROUND),
    queues: [{ queue: rounds, workers: 1, announcesNothing: true, reconcile }],
  };
}

/** Goes through all tokens; what fails is logged and waits for the next round. */
class Cleaner {
  readonly #context: ControllerContext;
  readonly #periodMs: number;

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#periodMs = Number(context.flags[PERIOD_FLAG]);
  }

  async round(run: SyncRun): Promise<void> {
    const { informers, log } = this.#context;
    const round = { now: run.now, periodMs: this.#periodMs };
    const since = await this.#trackedSince(run);
    if (since === undefined || !trackedLongEnough(since, round)) return;
    const secrets = informers.of<CachedSecret, SecretRecord>(SECRETS).lister;
    const named = new NamedByPods(this.#context, run);
    for (const record of secrets.list('')) {
      if (record.tokenOf === undefined) continue;
      try {
        const secret = secrets.get(record.key);
        if (secret !== undefined) await this.#one(run, secret, record, named, round);
      } catch (error) {
        if (error instanceof FencedError || error instanceof ObjectUnavailable) throw error;
        log.error('Cleaning a legacy service account token', error, { secret: record.key });
      }
    }
  }

  /** The begin of the day that the API server noted, milliseconds; undefined if that can't be read. */
  async #trackedSince(run: SyncRun): Promise<number | undefined> {
    const { log } = this.#context;
    const complaint = 'Getting lastest possible tracked_since time';
    try {
      const { data } = await run.client.get<ConfigMap>(CONFIG_MAPS, TRACKING);
      const since = data?.[SINCE_KEY];
      if (since === undefined) throw new Error('configMap does not have since label');
      const ms = dateMs(since);
      if (ms === undefined)
        throw new Error(`error parsing trackedSince time: "${since}" is no date`);
      return ms;
    } catch (error) {
      log.error(complaint, error);
      return undefined;
    }
  }

  async #one(
    run: SyncRun,
    secret: CachedSecret,
    record: SecretRecord,
    named: NamedByPods,
    round: Round,
  ): Promise<void> {
    // Who holds it is looked up for those only of which it matters.
    const unused = isUnused(secret, round) === true;
    const generated = unused && this.#isGenerated(record);
    const mounted = generated && (await named.has(record.namespace, record.name));
    await this.#carryOut(run, record, decide({ secret, generated, mounted }, round));
  }

  /** Its account is there, and has it in its list. */
  #isGenerated({ namespace, name, tokenOf }: SecretRecord): boolean {
    if (tokenOf === undefined || tokenOf.name === '') return false;
    const accounts = this.#context.informers.of<ServiceAccount>(SERVICE_ACCOUNTS).lister;
    const account = accounts.get(keyOf({ namespace, name: tokenOf.name }));
    if (account === undefined || !isAccount(tokenOf, account)) return false;
    return (account.secrets ?? []).some((secret) => secret.name === name);
  }

  async #carryOut(run: SyncRun, record: SecretRecord, decision: Decision): Promise<void> {
    const { log } = this.#context;
    const { namespace, name, uid, key, resourceVersion } = record;
    const at = { namespace, name };
    if (decision.do === 'complain') throw new Error(decision.problem);
    if (decision.do === 'mark') {
      const { since, because } = decision;
      log.info('Mark the auto-generated service account token as invalid', {
        invalidSince: since,
        secret: key,
      });
      const metadata = { ...at, uid, labels: { [INVALID_SINCE]: since } };
      const body = { apiVersion: apiVersionOf(SECRETS), kind: SECRETS.kind, metadata };
      await run.client.patch(SECRETS, at, 'merge', body, { because });
    }
    if (decision.do !== 'delete') return;
    const { because } = decision;
    log.info('Delete auto-generated service account token', { secret: key, because });
    try {
      await run.client.delete(SECRETS, at, { uid, resourceVersion, because });
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error;
    }
  }
}
