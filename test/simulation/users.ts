/** People and their tools: what they do to the cluster, drawn from the seed. */
import {
  CRON_JOBS,
  DAEMON_SETS,
  DEPLOYMENTS,
  JOBS,
  PODS,
  REPLICA_SETS,
  type Resource,
  STATEFUL_SETS,
} from '../../src/api/resource.ts';
import type { Json, Obj } from '../rig/api.ts';
import { keyOf, type ModelApi, Refused } from './api-model.ts';
import type { Dice } from './dice.ts';

const NAMESPACE = 'default';
const JOBS_MAX = 12;

export class ModelUsers {
  readonly #api: ModelApi;
  readonly #dice: Dice;
  #images = 1;
  #jobs = 0;

  constructor(api: ModelApi, dice: Dice) {
    this.#api = api;
    this.#dice = dice;
  }

  /** One thing that somebody does; gives it in words. */
  act(): string {
    const what = this.#dice.weighted({
      scale: 20,
      rollOut: 10,
      create: 12,
      job: 14,
      killPod: 14,
      delete: 4,
      pause: 4,
      changeJob: 5,
      deleteReplicaSet: 1,
    });
    try {
      return `${what} ${this.#do(what)}`;
    } catch (error) {
      if (error instanceof Refused) return `${what}: ${error.message}`;
      throw error;
    }
  }

  /** Nothing is left paused or suspended. */
  calmDown(): void {
    for (const one of this.#api.all(DEPLOYMENTS)) {
      if (one.spec.paused === true) this.#change(DEPLOYMENTS, one, { paused: false });
    }
    for (const one of this.#api.all(JOBS)) {
      const { suspend, parallelism } = one.spec;
      if (suspend === true || parallelism === 0) {
        this.#change(JOBS, one, { suspend: false, parallelism: parallelism || 1 });
      }
    }
    for (const one of this.#api.all(CRON_JOBS)) {
      if (one.spec.suspend !== true) this.#change(CRON_JOBS, one, { suspend: true });
    }
  }

  #do(what: string): string {
    switch (what) {
      case 'scale':
        return this.#scale();
      case 'rollOut':
        return this.#rollOut();
      case 'create':
        return this.#create();
      case 'job':
        return this.#createJob();
      case 'killPod':
        return this.#killPod();
      case 'delete':
        return this.#deleteOne();
      case 'pause':
        return this.#pause();
      case 'changeJob':
        return this.#changeJob();
      default:
        return this.#remove(REPLICA_SETS, this.#any(REPLICA_SETS));
    }
  }

  #any(...resources: readonly Resource[]): Obj | undefined {
    const all = resources.flatMap((resource) => this.#api.all(resource));
    return all.length === 0 ? undefined : this.#dice.pick(all);
  }

  #change(resource: Resource, object: Obj, spec: Json): string {
    const next = { ...object, spec: { ...object.spec, ...spec } };
    this.#api.update(resource, keyOf(object), next, '', 'user');
    return `${keyOf(object)} ${JSON.stringify(spec).slice(0, 80)}`;
  }

  #scale(): string {
    const object = this.#any(DEPLOYMENTS, STATEFUL_SETS);
    if (object === undefined) return 'nothing';
    const resource = object.kind === 'Deployment' ? DEPLOYMENTS : STATEFUL_SETS;
    return this.#change(resource, object, { replicas: this.#dice.whole(0, 9) });
  }

  #rollOut(): string {
    const object = this.#any(DEPLOYMENTS, STATEFUL_SETS, DAEMON_SETS);
    if (object === undefined) return 'nothing';
    const resource = [DEPLOYMENTS, STATEFUL_SETS, DAEMON_SETS].find(
      ({ kind }) => kind === object.kind,
    )!;
    // Now and then back to an image that was there before.
    const image = this.#dice.chance(0.3) ? this.#dice.whole(1, this.#images) : ++this.#images;
    return this.#change(resource, object, { template: template(object.metadata.name, image) });
  }

  #pause(): string {
    const object = this.#any(DEPLOYMENTS);
    if (object === undefined) return 'nothing';
    return this.#change(DEPLOYMENTS, object, { paused: object.spec.paused !== true });
  }

  #create(): string {
    const kind = this.#dice.pick(['deployment', 'deployment', 'statefulset', 'daemonset', 'cron']);
    const name = `${kind}-${this.#dice.whole(0, 2)}`;
    const metadata = { name, namespace: NAMESPACE, labels: { app: name } };
    const selector = { matchLabels: { app: name } };
    const base = { selector, template: template(name, this.#images) };
    const bodies: Record<string, () => [Resource, Json]> = {
      deployment: () => [DEPLOYMENTS, { ...base, ...deploymentSpec(this.#dice) }],
      statefulset: () => [STATEFUL_SETS, { ...base, ...statefulSpec(this.#dice, name) }],
      daemonset: () => [DAEMON_SETS, { ...base, ...daemonSpec(this.#dice) }],
      cron: () => [CRON_JOBS, cronSpec(this.#dice, name)],
    };
    const [resource, spec] = bodies[kind]!();
    const apiVersion = resource === CRON_JOBS ? 'batch/v1' : 'apps/v1';
    const body = { apiVersion, kind: resource.kind, metadata, spec, status: {} };
    this.#api.create(resource, NAMESPACE, body, 'user');
    return name;
  }

  #createJob(): string {
    const jobs = this.#api.all(JOBS);
    if (jobs.length >= JOBS_MAX) return this.#remove(JOBS, jobs[0]);
    const name = `job-${++this.#jobs}`;
    const metadata = { name, namespace: NAMESPACE };
    const body = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata,
      spec: jobSpec(this.#dice),
      status: {},
    };
    this.#api.create(JOBS, NAMESPACE, body, 'user');
    return name;
  }

  #changeJob(): string {
    const going = this.#api.all(JOBS).filter(({ status }) => !status?.completionTime);
    if (going.length === 0) return 'nothing';
    const object = this.#dice.pick(going);
    if (this.#dice.chance(0.5)) {
      return this.#change(JOBS, object, { parallelism: this.#dice.whole(0, 5) });
    }
    return this.#change(JOBS, object, { suspend: object.spec.suspend !== true });
  }

  #killPod(): string {
    const pod = this.#any(PODS);
    if (pod === undefined) return 'nothing';
    const options = this.#dice.chance(0.2) ? { gracePeriodSeconds: 0 } : {};
    this.#api.delete(PODS, keyOf(pod), options, 'user');
    return keyOf(pod);
  }

  #deleteOne(): string {
    const object = this.#any(DEPLOYMENTS, STATEFUL_SETS, DAEMON_SETS, JOBS, CRON_JOBS);
    if (object === undefined) return 'nothing';
    const resource = [DEPLOYMENTS, STATEFUL_SETS, DAEMON_SETS, JOBS, CRON_JOBS].find(
      ({ kind }) => kind === object.kind,
    );
    return this.#remove(resource!, object);
  }

  #remove(resource: Resource, object: Obj | undefined): string {
    if (object === undefined) return 'nothing';
    const propagationPolicy = this.#dice.pick(['Background', 'Background', 'Foreground']);
    this.#api.delete(resource, keyOf(object), { propagationPolicy }, 'user');
    return `${keyOf(object)} ${propagationPolicy}`;
  }
}

function template(name: string, image: number): Json {
  return {
    metadata: { labels: { app: name } },
    spec: {
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      containers: [{ name: 'main', image: `main:${image}` }],
    },
  };
}

function deploymentSpec(dice: Dice): Json {
  const rollingUpdate = {
    maxSurge: dice.pick(['25%', 1, 3]),
    maxUnavailable: dice.pick(['25%', 1]),
  };
  const strategy = dice.chance(0.85)
    ? { type: 'RollingUpdate', rollingUpdate }
    : { type: 'Recreate' };
  return {
    replicas: dice.whole(1, 8),
    strategy,
    revisionHistoryLimit: dice.pick([0, 2, 10]),
    progressDeadlineSeconds: 600,
  };
}

function statefulSpec(dice: Dice, serviceName: string): Json {
  return {
    replicas: dice.whole(1, 6),
    serviceName,
    podManagementPolicy: dice.pick(['OrderedReady', 'Parallel']),
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    revisionHistoryLimit: dice.pick([1, 10]),
  };
}

function daemonSpec(dice: Dice): Json {
  const rollingUpdate = { maxSurge: 0, maxUnavailable: dice.pick([1, 2]) };
  return { updateStrategy: { type: 'RollingUpdate', rollingUpdate }, revisionHistoryLimit: 3 };
}

function jobSpec(dice: Dice): Json {
  const completions = dice.whole(1, 6);
  const finishing = template('job', 1);
  finishing.spec.restartPolicy = 'Never';
  return {
    completions,
    parallelism: dice.whole(1, 4),
    completionMode: dice.pick(['NonIndexed', 'Indexed']),
    backoffLimit: dice.pick([0, 2, 6]),
    podReplacementPolicy: dice.pick(['TerminatingOrFailed', 'Failed']),
    ...(dice.chance(0.3) ? { ttlSecondsAfterFinished: dice.whole(10, 3_000) } : {}),
    template: finishing,
  };
}

function cronSpec(dice: Dice, name: string): Json {
  return {
    schedule: dice.pick(['*/5 * * * *', '*/17 * * * *', '0 * * * *']),
    concurrencyPolicy: dice.pick(['Allow', 'Forbid', 'Replace']),
    suspend: false,
    successfulJobsHistoryLimit: 2,
    failedJobsHistoryLimit: 1,
    jobTemplate: { metadata: { labels: { app: name } }, spec: jobSpec(dice) },
  };
}
