/**
 * The composition root: opens the store, serves, stands for election, follows the API server and
 * runs the controllers while it leads. Everything outside the process is made here and handed in.
 */
import { mkdirSync } from 'node:fs';
import { createReviews, type Serving, serve } from '../http/index.ts';
import { type ClientConfig, createClientFactory, loadClientConfig } from '../kube/index.ts';
import type { ClientFactory, WriteFence } from '../kube/types.ts';
import { type Elector, readMachine, runElected, runUnelected } from '../lease/index.ts';
import type { Options } from '../options/index.ts';
import { type Clock, systemClock } from '../runtime/clock.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { createEventRecorder } from '../runtime/events.ts';
import { createLogger, type RootLogger } from '../runtime/log.ts';
import { createLogStreams, type LogStreams } from '../runtime/log-streams.ts';
import { createMetrics, type ServedMetrics } from '../runtime/metrics.ts';
import { keepProgramPagesFew } from '../runtime/program-pages.ts';
import { type Random, systemRandom } from '../runtime/random.ts';
import { openService, type Service } from '../service/index.ts';
import { type OpenedStore, openStore, type ProcessLock, takeProcessLock } from '../store/index.ts';
import { type RunConfig, runConfig } from './config.ts';
import { answerForgetRequests } from './forgetting.ts';
import { Leadership } from './leadership.ts';
import { recordStoreHealth, recordWhatThisIs } from './metrics.ts';
import { reloadLogLevel } from './reload.ts';
import { followService } from './service.ts';
import { createStatus } from './status.ts';
import { learnTrust } from './trust.ts';

const COMPONENT = 'kube-controller-manager';
/** For what is no controller's write: reviews, discovery, events about the Lease. */
const ALWAYS_OPEN: WriteFence = {
  mayWrite: () => true,
  signal: () => new AbortController().signal,
};

/** What the process gets from the world around it. */
export interface World {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Takes lines of the log, without the last line break. */
  write(lines: string): void;
  /** Takes info messages that are split off from the rest of the log, in the same way. */
  print(lines: string): void;
  /** Resolves with a signal's name when the process is asked to stop. */
  readonly stopAsked: Promise<string>;
  /** Calls back at each SIGHUP. */
  onReload(callback: () => void): void;
  /** The options as the command line and its file give them now. Throws what is refused. */
  reread(): Options;
}

interface Parts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: RootLogger;
  readonly metrics: ServedMetrics;
  readonly config: RunConfig;
  readonly service: Service;
}

/** Runs until asked to stop; gives the exit code. Problems at the start are logged, code 1. */
export async function runHoldfast(
  options: Options,
  controllers: readonly ControllerDefinition[],
  world: World,
): Promise<number> {
  const clock = systemClock();
  const streams = logStreams(options, world, clock);
  const { write } = streams;
  const log = createLogger({ ...options.logging, write, clock, pid: process.pid });
  try {
    const config = runConfig(options, controllers, world.env);
    sayWhatIsUnusual(config, log);
    const service = openService(config.service, { clock, log, pid: process.pid });
    const random = systemRandom();
    const metrics = createMetrics(config.metricRules);
    try {
      return await runParts({ clock, random, log, metrics, config, service }, options, world);
    } finally {
      service.close();
    }
  } catch (error) {
    log.error('command failed', error);
    return 1;
  } finally {
    streams.end();
  }
}

function logStreams({ logging }: Options, world: World, clock: Clock): LogStreams {
  const { format, flushFrequencyMs: flushMs } = logging;
  const { split, infoBufferBytes: bufferBytes } = logging[format];
  const { write: err, print: out } = world;
  return createLogStreams({ format, split, bufferBytes, flushMs, out, err, clock });
}

function sayWhatIsUnusual(config: RunConfig, log: RootLogger): void {
  for (const warning of config.warnings) log.warning(warning);
  for (const { name, value } of config.effective) {
    log.v(1).info(`FLAG: --${name}=${JSON.stringify(value)}`);
  }
  for (const { name, because, notAvailable } of config.skipped) {
    if (notAvailable)
      log.warning('This version does not have the controller', { controller: name });
    else log.v(1).info('Skipping the controller', { controller: name, because });
  }
}

async function runParts(parts: Parts, options: Options, world: World): Promise<number> {
  const { clock, random, log, metrics, config, service } = parts;
  recordWhatThisIs(metrics, config);
  const lock = takeLock(parts);
  const opened = await openStore({ ...config.state, clock, log, random });
  const clientConfig = await loadClientConfig(config.client);
  recordStoreHealth(metrics, opened.store);
  const open = createClientFactory(clientConfig, clientOptions(parts, ALWAYS_OPEN));
  const elector = startElection(parts, lock, opened, clientConfig, open);
  const fenced = createClientFactory(clientConfig, clientOptions(parts, elector.fence));
  const leadership = new Leadership({ ...parts, opened, elector, open, fenced });
  const serving = await startServing(parts, leadership, opened, elector);
  world.onReload(() =>
    service.reload(() => {
      serving?.reload();
      reloadLogLevel(log, options, world.reread);
    }),
  );
  leadership.start();
  const stopped = new AbortController();
  answerForgetRequests({ ...parts, dir: config.state.dir, opened, leadership }, stopped.signal);
  followService(service, elector, opened.store);
  keepProgramPagesFew(clock);
  log.info('Started', { version: config.version, identity: elector.identity, server: open.server });
  const reason = await world.stopAsked;
  log.info('Stopping', { reason });
  stopped.abort();
  service.stopping(`Stopping: ${reason}`);
  await leadership.stop();
  opened.store.commit();
  await elector.release();
  await serving?.close();
  opened.store.close();
  await opened.gone;
  for (const factory of [fenced, open]) factory.close();
  if (lock.held) lock.release();
  metrics.registry.clear();
  log.info('Stopped');
  return 0;
}

function takeLock({ config, log, random }: Parts): ProcessLock {
  const { dir, runtimeDir } = config.state;
  for (const folder of [dir, runtimeDir]) tryMakeFolder(folder, log);
  const { hostName } = readMachine();
  const lock = takeProcessLock(dir, `${hostName} pid ${process.pid} ${random.text(4, 'abcdef')}`);
  if (lock.held) return lock;
  if (lock.reason === 'locked') {
    const holder = lock.holder === '' ? 'another process' : lock.holder;
    throw new Error(`--state-dir ${dir} is in use by ${holder}; give each process its own folder`);
  }
  log.warning('The state folder can not be locked; a restart will wait for the Lease to expire', {
    dir,
    detail: lock.detail,
  });
  return lock;
}

function tryMakeFolder(folder: string, log: RootLogger): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    log.error('Could not make a folder', error, { folder });
  }
}

function clientOptions(parts: Parts, fence: WriteFence): Parameters<typeof createClientFactory>[1] {
  const { clock, log, metrics, config } = parts;
  const { qps, burst, useServiceAccountCredentials } = config.client;
  const { version } = config;
  const fetchesAtOnce = Number(config.client.env.BUN_CONFIG_MAX_HTTP_REQUESTS ?? 0) || undefined;
  return {
    clock,
    log,
    metrics,
    fence,
    qps,
    burst,
    useServiceAccountCredentials,
    version,
    ...(fetchesAtOnce === undefined ? {} : { fetchesAtOnce }),
  };
}

function startElection(
  parts: Parts,
  lock: ProcessLock,
  opened: OpenedStore,
  clientConfig: ClientConfig,
  open: ClientFactory,
): Elector {
  const { clock, random, log, metrics, config } = parts;
  const machine = readMachine();
  if (!config.election.enabled) {
    return runUnelected({ hostName: machine.hostName, clock, random, log });
  }
  const client = open.client('leader-election');
  const { signal } = new AbortController();
  const events = createEventRecorder({
    component: COMPONENT,
    client,
    clock,
    random,
    log,
    signal,
  });
  return runElected({
    ...config.election,
    config: clientConfig,
    runtimeDirectory: config.state.runtimeDir,
    version: config.version,
    lockId: lock.held ? lock.id : undefined,
    facts: opened.store.facts,
    clock,
    random,
    log,
    metrics,
    events,
    machine,
  });
}

async function startServing(
  parts: Parts,
  leadership: Leadership,
  opened: OpenedStore,
  elector: Elector,
): Promise<Serving | undefined> {
  const { config, log } = parts;
  if (config.serving.port === 0) return undefined;
  const clients = await delegatedClients(parts);
  const { clock } = parts;
  const { version } = config;
  const known = { version, startedAt: clock.now(), clock, leadership, opened, elector };
  const serving = await serve(config.serving, {
    ...parts,
    status: createStatus(config, known),
    reviews: createReviews({
      ...parts,
      authentication: clients.authentication?.client,
      authorization: clients.authorization?.client,
    }),
    versions: config.versions,
    setVerbosity: (level) => log.setVerbosity(level),
  });
  log.info('Serving securely', { address: config.serving.bindAddress, port: serving.port });
  const { authentication } = clients;
  if (authentication !== undefined && !config.client.skipTrustLookup) {
    void learnTrust(authentication.client, parts, (published) => serving.trust(published));
  }
  return serving;
}

interface DelegatedClient {
  readonly client: ReturnType<ClientFactory['client']>;
}

async function delegatedClients(
  parts: Parts,
): Promise<{ authentication?: DelegatedClient; authorization?: DelegatedClient }> {
  const { client } = parts.config;
  const make = async (kubeconfig: string, name: string): Promise<DelegatedClient | undefined> => {
    if (kubeconfig === '' && !client.inCluster) return undefined;
    const loaded = await loadClientConfig({ ...client, kubeconfig, master: '' });
    const options = { ...clientOptions(parts, ALWAYS_OPEN), qps: 200, burst: 400 };
    return { client: createClientFactory(loaded, options).client(name) };
  };
  const authentication = await make(client.authenticationKubeconfig, 'delegated-authn');
  const authorization = await make(client.authorizationKubeconfig, 'delegated-authz');
  return {
    ...(authentication === undefined ? {} : { authentication }),
    ...(authorization === undefined ? {} : { authorization }),
  };
}
