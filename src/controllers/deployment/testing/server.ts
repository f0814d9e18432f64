/** An API server for tests of decisions: answers their steps from objects held in memory. */
import { ApiError } from '../../../api/errors.ts';
import { canonicalJson } from '../../../api/hash.ts';
import { timeText } from '../../../api/time.ts';
import type { Deployment, KubeObject, ReplicaSet } from '../../../api/types/index.ts';
import type { Action, NewReplicaSet, Steps } from '../actions.ts';
import { type DeploymentConfig, decide } from '../decide.ts';

const CONFIG: DeploymentConfig = { terminatingReplicas: true };

/** A definite answer with this reason. */
export function refusal(code: number, reason: string, message = reason): ApiError {
  return new ApiError(code, message, { code, reason, message, status: 'Failure' });
}

export class Server {
  deployment: Deployment;
  readonly replicaSets = new Map<string, ReplicaSet>();
  readonly actions: Action[] = [];
  now: number;
  /** Refuses a step; undefined lets it pass. */
  refuse: (action: Action) => ApiError | undefined = () => undefined;
  #version = 100;
  #uids = 0;

  constructor(deployment: Deployment, replicaSets: readonly ReplicaSet[], now: number) {
    this.deployment = deployment;
    this.now = now;
    for (const replicaSet of replicaSets)
      this.replicaSets.set(replicaSet.metadata.name, replicaSet);
  }

  /** Runs one sync over what is stored and gives the steps it took. Throws what the sync throws. */
  sync(running: ReadonlySet<string> = new Set(), config = CONFIG): readonly Action[] {
    const { deployment, now } = this;
    const observed = { deployment, replicaSets: [...this.replicaSets.values()], running };
    return this.play(decide(observed, now, config));
  }

  /** Carries steps out to their end and gives them. */
  play(steps: Steps<unknown>): readonly Action[] {
    const from = this.actions.length;
    let step = steps.next();
    while (!step.done) {
      const action = step.value;
      this.actions.push(action);
      let answer: KubeObject | undefined;
      try {
        const refused = this.refuse(action);
        if (refused !== undefined) throw refused;
        answer = this.#answer(action);
      } catch (error) {
        step = steps.throw(error);
        continue;
      }
      step = steps.next(answer);
    }
    return this.actions.slice(from);
  }

  /** Changes a stored ReplicaSet as its controller or a person would. */
  patch(name: string, change: (replicaSet: ReplicaSet) => ReplicaSet): void {
    const stored = this.replicaSets.get(name);
    if (stored !== undefined) this.#store(change(stored));
  }

  /** Changes the Deployment's spec as a person would. */
  edit(change: (deployment: Deployment) => Deployment): void {
    this.deployment = this.#next(this.deployment, change(this.deployment));
  }

  #answer(action: Action): KubeObject | undefined {
    switch (action.kind) {
      case 'createReplicaSet':
        return this.#create(action.replicaSet);
      case 'scaleReplicaSet':
      case 'updateReplicaSet': {
        const stored = this.#current(action.replicaSet);
        return this.#store(this.#next(stored, { ...action.replicaSet, status: stored.status }));
      }
      case 'deleteReplicaSet':
        this.#current(action.replicaSet);
        this.replicaSets.delete(action.replicaSet.metadata.name);
        return undefined;
      case 'updateDeployment':
        this.#checkVersion(this.deployment, action.deployment);
        this.deployment = this.#next(this.deployment, {
          ...action.deployment,
          status: this.deployment.status,
        });
        return this.deployment;
      case 'updateStatus':
        this.#checkVersion(this.deployment, action.deployment);
        this.deployment = this.#next(this.deployment, {
          ...action.deployment,
          spec: this.deployment.spec,
        });
        return this.deployment;
      case 'readReplicaSet':
        return this.replicaSets.get(action.name);
      default:
        return undefined;
    }
  }

  #create(body: NewReplicaSet): ReplicaSet {
    const { name } = body.metadata;
    if (this.replicaSets.has(name)) throw refusal(409, 'AlreadyExists', `"${name}" already exists`);
    return this.#store({
      ...body,
      metadata: {
        ...body.metadata,
        uid: `made-${++this.#uids}`,
        resourceVersion: '0',
        generation: 1,
        creationTimestamp: timeText(this.now),
      },
      status: { replicas: 0 },
    });
  }

  #store(replicaSet: ReplicaSet): ReplicaSet {
    const resourceVersion = String(++this.#version);
    const stored = { ...replicaSet, metadata: { ...replicaSet.metadata, resourceVersion } };
    this.replicaSets.set(stored.metadata.name, stored);
    return stored;
  }

  #current(sent: ReplicaSet): ReplicaSet {
    const stored = this.replicaSets.get(sent.metadata.name);
    if (stored === undefined) throw refusal(404, 'NotFound');
    this.#checkVersion(stored, sent);
    return stored;
  }

  #checkVersion(stored: KubeObject, sent: KubeObject): void {
    if (stored.metadata.resourceVersion !== sent.metadata.resourceVersion) {
      throw refusal(409, 'Conflict', `${stored.metadata.name} has been modified`);
    }
  }

  /** The generation moves with the spec, the version always. */
  #next<T extends Deployment | ReplicaSet>(before: T, after: T): T {
    const { generation = 1 } = before.metadata;
    const moved = canonicalJson(before.spec) !== canonicalJson(after.spec);
    return {
      ...after,
      metadata: {
        ...after.metadata,
        generation: moved ? generation + 1 : generation,
        resourceVersion: String(++this.#version),
      },
    };
  }
}
