/** A load of every kind of workload, in rounds, and what each round must leave behind. */
import { eventually, notYet, type Obj } from '../rig/index.ts';
import type { Ledger } from '../scenarios/ledger.ts';
import { deployment, type Fields, isRolledOut, template, type World } from '../scenarios/world.ts';
import { serviceOf, untilServed } from './service.ts';

const SIM = 'sim.holdfast.dev/';
const MEMBERS = 4;
const REPLICAS = 6;
const SURGE = 2;
const AWAY = 1;
const DAEMONS_AWAY = 5;
/** Apps that live through all rounds. */
const LIVING = ['web', 'db', 'agent'];
const PLAIN = 6;
const INDEXES = 8;
const RETRIES = 1;
/** Only a load that never comes to rest, or a machine that is busy otherwise, comes near it. */
const SETTLE_TIMEOUT_MS = 180_000;
/** Long ago, so that exactly one start is due. */
const LAST_SCHEDULE = '2020-06-01T00:00:00Z';

/** What a workload of a round must have made. */
interface Goal {
  readonly app: string;
  readonly pods: number;
  /** Pods the app had before the round. */
  readonly before: ReadonlySet<string>;
}

function podsOf(app: string, version: string, sim: Record<string, string>, fields = {}): object {
  const annotations = Object.fromEntries(
    Object.entries(sim).map(([key, value]) => [SIM + key, value]),
  );
  return template(version, { annotations, ...fields }, { app });
}

function jobSpec(app: string, spec: object, sim: Record<string, string>): object {
  return { ...spec, template: podsOf(app, '1', sim, { restartPolicy: 'Never' }) };
}

const FINISH = { behaviour: 'finish', 'finish-after': '200ms' };

/** Something that lives as long as its owner, which only the garbage collector looks after. */
function ownedBy(kind: string, { name, uid }: Obj): Fields {
  const apiVersion = kind === 'Job' ? 'batch/v1' : 'apps/v1';
  const ownerReferences = [{ apiVersion, kind, name, uid }];
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `of-${name}`, ownerReferences } };
}

function webFields(version: string): object {
  const rollingUpdate = { maxSurge: SURGE, maxUnavailable: AWAY };
  const strategy = { type: 'RollingUpdate', rollingUpdate };
  return { strategy, template: podsOf('web', version, {}) };
}

/** The load of one test. */
export class Mix {
  #round = 0;
  #version = 1;
  #goals: Goal[] = [];
  /** What `complaints` has looked at. */
  readonly judged = { workloads: 0, pods: 0, jobs: 0 };

  constructor(
    private readonly world: World,
    private readonly ledger: Ledger,
    private readonly nodes: number,
  ) {}

  /** Creates what lives through all rounds, and waits for it. */
  async launch(): Promise<void> {
    const { world } = this;
    await world.create({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'db' },
      spec: {
        replicas: MEMBERS,
        serviceName: 'db',
        selector: { matchLabels: { app: 'db' } },
        template: podsOf('db', '1', {}),
      },
    });
    await world.create({
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'agent' },
      spec: {
        selector: { matchLabels: { app: 'agent' } },
        updateStrategy: { rollingUpdate: { maxUnavailable: DAEMONS_AWAY } },
        template: podsOf('agent', '1', {}),
      },
    });
    await world.create(deployment(REPLICAS, { ...webFields('1'), revisionHistoryLimit: 2 }));
    await world.create(serviceOf('web'));
    await this.#rolledOut();
    const { metadata } = await world.get('deployments', 'web');
    await world.create(ownedBy('Deployment', metadata));
    this.ledger.bound('web', { asked: REPLICAS + SURGE, ready: REPLICAS - AWAY });
    this.ledger.bound('db', { asked: Number.POSITIVE_INFINITY, ready: MEMBERS - 1 });
    this.ledger.bound('agent', {
      asked: Number.POSITIVE_INFINITY,
      ready: this.nodes - DAEMONS_AWAY,
    });
  }

  /** Starts a round: new Jobs, a CronJob that is due, both rollouts. */
  async begin(): Promise<void> {
    const { world } = this;
    const round = ++this.#round;
    const version = `${++this.#version}`;
    await this.ledger.reach();
    this.#goals = [
      this.#goal('web', REPLICAS),
      this.#goal('db', MEMBERS),
      this.#goal('agent', this.nodes),
      this.#goal(`plain-${round}`, PLAIN),
      this.#goal(`indexed-${round}`, INDEXES),
      this.#goal(`failing-${round}`, 1 + RETRIES),
      this.#goal(`tick-${round}`, 1),
    ];
    await Promise.all([
      this.#job('plain', { completions: PLAIN, parallelism: 3 }, FINISH),
      this.#job(
        'indexed',
        { completions: INDEXES, parallelism: 4, completionMode: 'Indexed' },
        FINISH,
      ),
      this.#job('failing', { backoffLimit: RETRIES }, { behaviour: 'fail' }),
      this.#cronJob(),
      world.merge('deployments', 'web', { spec: { template: podsOf('web', version, {}) } }),
      world.merge('statefulsets', 'db', { spec: { template: podsOf('db', version, {}) } }),
      world.merge('daemonsets', 'agent', { spec: { template: podsOf('agent', version, {}) } }),
    ]);
  }

  /** Waits until everything of the round has come to its end. */
  async settled(): Promise<void> {
    const ended = (name: string) =>
      this.#until('jobs', name, ({ status }) =>
        (status?.conditions ?? []).some(
          ({ type, status: is }: Obj) =>
            is === 'True' && (type === 'Complete' || type === 'Failed'),
        ),
      );
    await Promise.all([
      ...['plain', 'indexed', 'failing'].map((name) => ended(`${name}-${this.#round}`)),
      this.#started().then((job) => ended(job)),
      this.#rolledOut(),
    ]);
    await untilServed(this.world, 'web', SETTLE_TIMEOUT_MS);
    await this.ledger.reach();
  }

  /** Everything that the round has done and should not have. */
  async complaints(): Promise<string[]> {
    const found = this.ledger.breaches.splice(0);
    for (const { app, pods, before } of this.#goals) {
      const made = this.ledger.of(app).filter(({ uid }) => !before.has(uid));
      this.judged.workloads++;
      this.judged.pods += made.length;
      const taken = made.filter(({ deleting }) => deleting);
      if (taken.length > 0) found.push(`${app}: ${taken.map(({ name }) => name)} were taken away`);
      if (made.length === pods) continue;
      const names = made.map(({ name, deleting }) => name + (deleting ? ' (deleted)' : ''));
      found.push(`${app}: ${made.length} pods were created, ${pods} needed: ${names.join(' ')}`);
    }
    const jobs = await this.world.list('jobs');
    this.judged.jobs += jobs.length;
    for (const { metadata, status } of jobs) {
      const { succeeded = 0, failed = 0, active = 0, uncountedTerminatedPods } = status;
      const kind = metadata.name.split('-')[0];
      const wanted = { plain: [PLAIN, 0], indexed: [INDEXES, 0], failing: [0, 1 + RETRIES] }[
        kind as string
      ] ?? [1, 0];
      const uncounted = Object.values(uncountedTerminatedPods ?? {}).flat().length;
      if (`${[succeeded, failed, active, uncounted]}` !== `${[...wanted, 0, 0]}`) {
        found.push(`${metadata.name}: status ${JSON.stringify(status)}`);
      }
    }
    const maps = (await this.world.list('configmaps')).map(({ metadata }) => metadata.name);
    for (const name of ['of-web', `of-plain-${this.#round}`]) {
      if (!maps.includes(name)) found.push(`the ConfigMap ${name} is lost`);
    }
    const held = (await this.world.list('pods')).filter((pod) => pod.metadata.finalizers?.length);
    found.push(...held.map(({ metadata }) => `${metadata.name} still has a finalizer`));
    const due = jobs.filter(({ metadata }) => metadata.name.startsWith(`tick-${this.#round}-`));
    if (due.length !== 1) found.push(`the CronJob started ${due.length} Jobs`);
    return found;
  }

  /** Deletes the round's Jobs; the garbage collector must take their pods. */
  async cleanUp(): Promise<void> {
    const { api, namespace } = this.world;
    const background = { propagationPolicy: 'Background' } as const;
    await api.remove('cronjobs', namespace, `tick-${this.#round}`, background);
    for (const name of ['plain', 'indexed', 'failing']) {
      await api.remove('jobs', namespace, `${name}-${this.#round}`, background);
    }
    await eventually(
      async () => {
        const pods = await this.world.list('pods');
        const left = pods.filter(({ metadata }) => !LIVING.includes(metadata.labels?.app));
        const maps = await this.world.list('configmaps');
        left.push(...maps.filter(({ metadata }) => metadata.name === `of-plain-${this.#round}`));
        if (left.length > 0) throw notYet(left.map(({ metadata }) => metadata.name));
        return true;
      },
      { timeoutMs: SETTLE_TIMEOUT_MS, describe: 'what deleted Jobs owned is gone' },
    );
  }

  #goal(app: string, pods: number): Goal {
    return { app, pods, before: new Set(this.ledger.of(app).map(({ uid }) => uid)) };
  }

  #until(plural: string, name: string, wanted: (object: Obj) => boolean): Promise<Obj> {
    const options = { timeoutMs: SETTLE_TIMEOUT_MS, describe: `${plural} ${name}` };
    return this.world.api.waitFor(plural, this.world.namespace, name, wanted, options);
  }

  async #job(kind: string, spec: object, sim: Record<string, string>): Promise<void> {
    const name = `${kind}-${this.#round}`;
    const job = await this.world.create({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name },
      spec: jobSpec(name, spec, sim),
    });
    if (kind === 'plain') await this.world.create(ownedBy('Job', job.metadata));
  }

  async #cronJob(): Promise<void> {
    const { world } = this;
    const name = `tick-${this.#round}`;
    const jobTemplate = { spec: jobSpec(name, {}, FINISH) };
    await world.create({
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name },
      spec: { schedule: '0 0 1 1 *', suspend: true, jobTemplate },
    });
    await world.api.patchStatus('cronjobs', world.namespace, name, {
      lastScheduleTime: LAST_SCHEDULE,
    });
    await world.merge('cronjobs', name, { spec: { suspend: false } });
  }

  async #started(): Promise<string> {
    const prefix = `tick-${this.#round}-`;
    const isOurs = ({ metadata }: Obj): boolean => metadata.name.startsWith(prefix);
    const jobs = await this.world.untilList(
      'jobs',
      (all) => all.some(isOurs),
      'a Job of the CronJob',
    );
    return jobs.find(isOurs)?.metadata.name;
  }

  async #rolledOut(): Promise<void> {
    await this.#until('deployments', 'web', isRolledOut);
    await this.#until('statefulsets', 'db', ({ metadata, status }) => {
      const isNew = status?.currentRevision === status?.updateRevision;
      const isCurrent = status?.observedGeneration === metadata.generation;
      return isCurrent && isNew && status.readyReplicas === MEMBERS;
    });
    await this.#until('daemonsets', 'agent', ({ metadata, status }) => {
      const isCurrent = status?.observedGeneration === metadata.generation;
      const counts = [status?.updatedNumberScheduled, status?.numberAvailable];
      return isCurrent && counts.every((count) => count === this.nodes);
    });
  }
}
