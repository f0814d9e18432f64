/**
 * Scenarios about nodes, played under the reference manager and under Holdfast, each on a cluster
 * of its own. Nodes belong to nobody's namespace, so each play names its nodes after its own.
 */
import { atRest, eventually, type Json, type Obj } from '../rig/index.ts';
import { type Fields, type Scenario, World } from './world.ts';

export type NodeScenario = Scenario<NodeWorld>;

/** Nodes, then pods and events of one play, without what may differ between two runs. */
export type NodeSnapshot = Readonly<Record<'nodes' | 'pods' | 'events', Json[]>>;

const CALM_MS = 400;
const CALM_LOOKS = 4;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;

/** A namespace, and nodes that are called after it. */
export class NodeWorld extends World {
  readonly #endings: (() => unknown)[] = [];

  /** Calls this when the play has been looked at, or the cluster stops. */
  onEnd(ending: () => unknown): void {
    this.#endings.push(ending);
    this.cluster.onStop(async () => void (await ending()));
  }

  /** Takes the nodes of this play away: those that are left silent count for whole zones. */
  override async end(): Promise<void> {
    for (const ending of this.#endings) await ending();
    for (const { metadata } of await this.api.list('nodes')) {
      const isOurs = metadata.name.startsWith(`${this.namespace}-`);
      if (isOurs) await this.api.remove('nodes', '', metadata.name);
    }
  }

  /** The whole name of a node of this play. */
  node(name: string): string {
    return `${this.namespace}-${name}`;
  }

  async createNode(name: string, fields: Fields = {}): Promise<Obj> {
    const { metadata, status, ...rest } = fields;
    const object = { apiVersion: 'v1', kind: 'Node', ...rest };
    const whole = this.node(name);
    const made = await this.api.create({
      ...object,
      metadata: { name: whole, ...(metadata as Fields) },
    });
    if (status === undefined) return made;
    return await this.api.patchStatus('nodes', '', whole, status);
  }

  getNode(name: string): Promise<Obj> {
    return this.api.get('nodes', '', this.node(name));
  }

  mergeNode(name: string, body: Fields): Promise<Obj> {
    return this.api.patch('nodes', '', this.node(name), body);
  }

  taint(name: string, taints: readonly Fields[] | null): Promise<Obj> {
    return this.mergeNode(name, { spec: { taints } });
  }

  untilNode(name: string, wanted: (node: Obj) => boolean, timeoutMs = 60_000): Promise<Obj> {
    return this.api.waitFor('nodes', '', this.node(name), wanted, { timeoutMs });
  }

  /** Waits until the pod is being deleted; gives how long that took, milliseconds. */
  async untilGoing(name: string, timeoutMs = 60_000): Promise<number> {
    const startedAt = performance.now();
    const isGoing = ({ metadata }: Obj) => metadata.deletionTimestamp !== undefined;
    const options = { timeoutMs, everyMs: 50, describe: `pod ${name} being deleted` };
    await this.api.waitFor('pods', this.namespace, name, isGoing, options);
    return performance.now() - startedAt;
  }

  /** Waits for an event with this text about anything of this play. */
  async untilEvent(text: string): Promise<void> {
    const look = async (): Promise<boolean> =>
      (await this.events()).some(({ message }) => message.includes(text));
    await eventually(look, { timeoutMs: 60_000, describe: `an event "${text}"` });
  }

  /** Events about this play's pods and nodes. */
  async events(): Promise<Obj[]> {
    // An API server that starts may tell of a ServiceCIDR that it has not got yet, without a name.
    const about = ({ involvedObject: { name = '' } }: Obj) => name.startsWith(`${this.namespace}-`);
    const ofNodes = (await this.api.list('events', 'default')).filter(about);
    return [...(await this.list('events')), ...ofNodes];
  }
}

/** The snapshot of a play in which nothing moves any more. */
export async function settled(world: NodeWorld): Promise<NodeSnapshot> {
  return await atRest(() => snapshot(world), {
    looks: CALM_LOOKS,
    everyMs: CALM_MS,
    timeoutMs: 40_000,
    describe: 'nodes at rest',
  });
}

async function snapshot(world: NodeWorld): Promise<NodeSnapshot> {
  const all = await world.api.list('nodes');
  const nodes = all.filter(({ metadata }) => metadata.name.startsWith(`${world.namespace}-`));
  const events = new Set((await world.events()).map(plainEvent));
  const plain = {
    nodes: sorted(nodes.map(plainNode)),
    pods: sorted((await world.list('pods')).map(plainPod)),
    events: sorted([...events]),
  };
  const text = JSON.stringify(plain)
    .replaceAll(world.namespace, '<play>')
    .replaceAll(TIME, '<time>');
  return JSON.parse(text) as NodeSnapshot;
}

function sorted(items: Json[]): Json[] {
  return items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

function plainEvent({ involvedObject, type, reason, message, source }: Obj): string {
  const { kind, name, uid } = involvedObject;
  const told = uid ? 'by UID' : 'without UID';
  return `${kind} ${name} (${told}): ${type} ${reason} (${source?.component}): ${message}`;
}

function plainNode({ metadata, spec, status }: Obj): Json {
  const { name, labels, annotations } = metadata;
  const taints = (spec?.taints ?? []).map(({ timeAdded, ...rest }: Json) => ({
    ...rest,
    timed: timeAdded !== undefined,
  }));
  return { name, labels, annotations, taints: sorted(taints), conditions: conditionsOf(status) };
}

function plainPod({ metadata, spec, status }: Obj): Json {
  const { name, deletionTimestamp } = metadata;
  const { nodeName } = spec;
  const going = deletionTimestamp !== undefined;
  return { name, nodeName, going, phase: status?.phase, conditions: conditionsOf(status) };
}

function conditionsOf(status: Json): Json[] {
  return (status?.conditions ?? []).map(
    ({ lastHeartbeatTime: _h, lastTransitionTime: _t, ...rest }: Json) => rest,
  );
}
