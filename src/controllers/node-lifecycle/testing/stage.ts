/** The node lifecycle controller on fakes, for its tests. */
import { LEASES, NODES } from '../../../api/resource.ts';
import { timeText } from '../../../api/time.ts';
import type { Lease, Node, Taint } from '../../../api/types/index.ts';
import { type FakeContext, fakeContext } from '../../_kit/testing/fake-context.ts';
import { FakeRun } from '../../_kit/testing/fake-run.ts';
import { nodeLifecycleController } from '../index.ts';

/** Wall time of all tests. */
export const NOW = Date.parse('2026-11-30T06:00:00Z');
/** How long a node may be silent. */
export const GRACE_MS = 40_000;
const FLAGS = {
  'node-monitor-period': 5_000,
  'node-monitor-grace-period': GRACE_MS,
  'node-startup-grace-period': 60_000,
  'node-eviction-rate': 0.1,
  'secondary-node-eviction-rate': 0.01,
  'large-cluster-size-threshold': 50,
  'unhealthy-zone-threshold': 0.55,
};

interface NodeFacts {
  readonly ready?: string;
  readonly heartbeat?: string;
  readonly taints?: readonly Taint[];
  readonly uid?: string;
  readonly createdAt?: number;
}

/** A node that beats under `heartbeat`; ready "": it never posted a status. */
export function nodeOf(name: string, facts: NodeFacts = {}): Node {
  const { ready = 'True', heartbeat = 'h1', taints = [], uid = `uid-${name}` } = facts;
  const creationTimestamp = timeText(facts.createdAt ?? NOW - 3_600_000);
  const condition = { type: 'Ready', status: ready, lastHeartbeatTime: heartbeat };
  return {
    metadata: { name, uid, resourceVersion: '1', creationTimestamp },
    spec: { taints },
    status: ready === '' ? {} : { conditions: [condition] },
  };
}

/** The Lease of a node. */
export function leaseOf(name: string, renewTime: string): Lease {
  const metadata = { name, namespace: 'kube-node-lease', uid: `l-${name}`, resourceVersion: '1' };
  return { metadata, spec: { renewTime } };
}

/** The controller on fakes; nodes take over what is written to them. */
export class Stage {
  readonly fakes: FakeContext;
  readonly #queues;

  constructor(nodes: readonly Node[], fakes = fakeContext({ now: NOW, flags: FLAGS })) {
    this.fakes = fakes;
    this.nodes.put(...nodes);
    fakes.informers.of<Lease>(LEASES);
    this.#queues = nodeLifecycleController.build(fakes.context)?.queues ?? [];
  }

  get nodes() {
    return this.fakes.informers.of<Node>(NODES);
  }

  get told(): string[] {
    return this.fakes.events.events.map(({ reason }) => reason);
  }

  /** One sync of a queue; writes of taints and conditions become true. */
  async sync(queue: string, key: string, run = new FakeRun(this.fakes.clock.now())) {
    const definition = this.#queues.find((one) => one.queue.name === queue);
    await definition?.reconcile(key, run);
    for (const { resource, key: name, body } of run.writes) this.#apply(resource, name, body);
    return run;
  }

  look(run?: FakeRun) {
    return this.sync('node_lifecycle_monitor', 'all nodes', run);
  }

  taint() {
    return this.sync('node_lifecycle_taints', 'all nodes');
  }

  /** Looks every five seconds. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 5_000) {
      await this.fakes.clock.advance(5_000);
      await this.look();
    }
  }

  statusOf(name: string): string | undefined {
    const conditions = this.nodes.lister.get(name)?.status?.conditions;
    return conditions?.find(({ type }) => type === 'Ready')?.status;
  }

  taintsOf(name: string): string[] {
    return (this.nodes.lister.get(name)?.spec?.taints ?? []).map(
      ({ key }) => key.split('/')[1] ?? '',
    );
  }

  #apply(resource: string, name: string, body: object | undefined): void {
    const node = this.nodes.lister.get(name);
    if (node === undefined || !resource.startsWith('nodes')) return;
    const { spec, status } = body as Partial<Node>;
    const changed = status?.conditions ?? [];
    const kept = (node.status?.conditions ?? []).filter(
      ({ type }) => !changed.some((one) => one.type === type),
    );
    const taints = spec === undefined ? node.spec?.taints : (spec.taints ?? []);
    this.nodes.put({ ...node, spec: { taints }, status: { conditions: [...kept, ...changed] } });
  }
}

/** A process that takes over the memory of another, its clocks and its cluster. */
export function restarted(before: Stage): Stage {
  const all = before.nodes.lister.list('').map(({ key }) => before.nodes.lister.get(key) as Node);
  const fakes = fakeContext({ now: NOW, flags: FLAGS });
  for (const row of before.fakes.memory.all()) fakes.memory.put(row);
  const { clock, context } = before.fakes;
  const { countdowns } = context;
  return new Stage(all, { ...fakes, clock, context: { ...fakes.context, clock, countdowns } });
}
