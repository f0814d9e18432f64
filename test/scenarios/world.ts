/** What a scenario is handed: a namespace on a cluster that some manager leads, and short verbs. */
import { type Cluster, eventually, notYet, type Obj } from '../rig/index.ts';

export type Fields = Record<string, unknown>;

/** One scenario: what a user does, written once and played under both managers. */
export interface Scenario<W extends World = World> {
  readonly name: string;
  /** Reasons of events that come or don't under the same manager, as its caches happen to lag. */
  readonly raced?: readonly string[];
  /** What it is about, and the first API server that has it. On older ones it is skipped. */
  readonly since?: { readonly server: string; readonly has: string };
  play(world: W): Promise<void>;
}

const SETTLE_TIMEOUT_MS = 60_000;

/** A namespace of its own for one play of a scenario. */
export class World {
  constructor(
    readonly cluster: Cluster,
    readonly namespace: string,
    /** How long to wait for a state. */
    private readonly settleMs = SETTLE_TIMEOUT_MS,
  ) {}

  get api(): Cluster['api'] {
    return this.cluster.api;
  }

  create(object: Fields): Promise<Obj> {
    const metadata = { namespace: this.namespace, ...(object.metadata as Fields) };
    return this.api.create({ ...object, metadata });
  }

  get(plural: string, name: string): Promise<Obj> {
    return this.api.get(plural, this.namespace, name);
  }

  list(plural: string): Promise<Obj[]> {
    return this.api.list(plural, this.namespace);
  }

  merge(plural: string, name: string, body: Fields): Promise<Obj> {
    return this.api.patch(plural, this.namespace, name, body);
  }

  /** Takes away what would disturb later plays; called once the play has been looked at. */
  async end(): Promise<void> {}

  /** Waits until an object is as wanted. */
  until(plural: string, name: string, wanted: (object: Obj) => boolean): Promise<Obj> {
    const options = { timeoutMs: this.settleMs, describe: `${plural} ${name}` };
    return this.api.waitFor(plural, this.namespace, name, wanted, options);
  }

  /** Waits until a list is as wanted. */
  untilList(plural: string, wanted: (objects: Obj[]) => boolean, what: string): Promise<Obj[]> {
    const look = async (): Promise<Obj[]> => {
      const objects = await this.list(plural);
      if (wanted(objects)) return objects;
      throw notYet(objects.map((object) => [object.metadata.name, object.spec?.replicas]));
    };
    return eventually(look, { timeoutMs: this.settleMs, describe: what });
  }

  /** Waits until a Deployment has rolled out completely, or until a paused one has scaled. */
  rolledOut(name = 'web'): Promise<Obj> {
    return this.until('deployments', name, isRolledOut);
  }

  /** Waits until a condition has that reason. */
  condition(plural: string, name: string, type: string, reason: string): Promise<Obj> {
    return this.until(plural, name, ({ status }) =>
      (status?.conditions ?? []).some((c: Fields) => c.type === type && c.reason === reason),
    );
  }

  /** Waits until a ReplicaSet or ReplicationController has so many ready pods and no others. */
  scaled(plural: string, name: string, replicas: number): Promise<Obj> {
    return this.until(plural, name, ({ metadata, status }) => {
      const current = status?.observedGeneration === metadata.generation;
      const counts = [status?.replicas ?? 0, status?.readyReplicas ?? 0];
      return current && counts.every((count) => count === replicas);
    });
  }
}

/** Whether a Deployment has rolled out completely. */
export function isRolledOut({ metadata, spec, status }: Obj): boolean {
  const current = status?.observedGeneration === metadata.generation;
  const counts = [status?.replicas, status?.updatedReplicas, status?.availableReplicas];
  const done = counts.every((count) => (count ?? 0) === spec.replicas);
  return current && done && (status?.terminatingReplicas ?? 0) === 0;
}

const LABELS = { app: 'web' };

/** A pod template of one container; `version` is its image's tag. */
export function template(version: string, fields: Fields = {}, labels: Fields = LABELS): Fields {
  const { annotations, ...spec } = fields;
  return {
    metadata: { labels, ...(annotations === undefined ? {} : { annotations }) },
    spec: {
      terminationGracePeriodSeconds: 1,
      containers: [{ name: 'web', image: `web:${version}` }],
      ...spec,
    },
  };
}

/** A template whose pods stay Pending for ever. */
export function hanging(version: string): Fields {
  return template(version, { annotations: { 'sim.holdfast.dev/behaviour': 'hang' } });
}

export function deployment(replicas: number, fields: Fields = {}, name = 'web'): Fields {
  const { metadata, ...spec } = fields;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, ...(metadata as Fields) },
    spec: { replicas, selector: { matchLabels: LABELS }, template: template('1'), ...spec },
  };
}

export function replicaSet(replicas: number, fields: Fields = {}, name = 'web'): Fields {
  return { ...deployment(replicas, fields, name), kind: 'ReplicaSet' };
}

export function replicationController(replicas: number, fields: Fields = {}, name = 'web'): Fields {
  return {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: { name },
    spec: { replicas, selector: LABELS, template: template('1'), ...fields },
  };
}
