/** The node simulator: registers nodes, keeps their heartbeats, and runs the pods bound to them. */
import { type Api, ApiFailure, type Obj } from './api.ts';
import { Heart, type HeartOptions } from './heart.ts';
import { Kubelets } from './kubelet.ts';
import {
  kubeletEndpoint,
  type NodeShape,
  nodeConditions,
  nodeObject,
  type Readiness,
} from './node-objects.ts';
import type { PodPlan } from './pod-plan.ts';
import { PodRunner, type RunnerStats } from './pod-runner.ts';
import { mapBounded, Pool } from './pool.ts';

export interface NodesOptions extends HeartOptions {
  /** How many nodes, default 1. */
  readonly count?: number;
  /** Nodes are named PREFIX-0, PREFIX-1 …; default "node". */
  readonly prefix?: string;
  /** From a pod's binding to Ready, where the pod does not say; default 0. */
  readonly readyDelayMs?: number;
  readonly labels?: (index: number) => Readonly<Record<string, string>>;
  /** Capacity of each node, default 64 CPUs, 256 GiB, 2,500 pods. */
  readonly resources?: Readonly<Record<string, string>>;
  /** Remove the not-ready taint at once, for clusters without node-lifecycle. */
  readonly clearTaint?: boolean;
  /** Bind pods as well, for clusters without a scheduler. */
  readonly bind?: boolean;
  readonly kubeletVersion?: string;
  /** Give each kubelet an HTTPS endpoint with /metrics/resource, on a port of its own. */
  readonly kubelets?: boolean;
  /** More defaults for the pods' plans; annotations win. */
  readonly plan?: (pod: Obj) => Partial<PodPlan>;
}

const RESOURCES = { cpu: '64', memory: '256Gi', pods: '2500', 'ephemeral-storage': '500Gi' };
const IN_FLIGHT_MAX = 8;
const WATCH_RETRY_MS = 300;
/** Bookmarks come about once a minute. */
const WATCH_SILENCE_MS_MAX = 90_000;
const LIST_PAGE = 500;

/** Anything that has a client: a Cluster, or a bare connection. */
export interface HasApi {
  readonly api: Api;
  onStop?(cleanup: () => unknown): void;
}

interface Node {
  readonly shape: NodeShape;
  uid: string;
  ready: Readiness;
  running: boolean;
  schedulable: boolean;
}

/** Running simulated nodes; made by simulateNodes(). */
export class NodeSimulator {
  readonly #nodes = new Map<string, Node>();
  readonly #runner: PodRunner;
  readonly #kubelets = new Kubelets((name) => this.#runner.runningOn(name));
  readonly #heart: Heart;
  readonly #bindings = new Pool(IN_FLIGHT_MAX);
  readonly #stop = new AbortController();
  #turn = 0;
  /** How far the pods were followed; undefined before the first list. */
  #version: string | undefined;

  constructor(
    private readonly api: Api,
    private readonly options: NodesOptions,
  ) {
    this.#runner = new PodRunner(api, {
      address: (name) => this.#nodes.get(name)?.shape.hostIP,
      running: (name) => this.#nodes.get(name)?.running ?? false,
      defaults: (pod) => ({ readyAfterMs: options.readyDelayMs, ...options.plan?.(pod) }),
    });
    this.#heart = new Heart(api, options, (name) => {
      const node = this.#nodes.get(name);
      return node?.running ? { uid: node.uid, ready: node.ready } : undefined;
    });
  }

  get names(): string[] {
    return [...this.#nodes.keys()];
  }

  get stats(): RunnerStats {
    return this.#runner.stats;
  }

  /** Registers all nodes and begins to run pods; used by simulateNodes(). */
  async start(): Promise<void> {
    const { count = 1, prefix = 'node' } = this.options;
    const indexes = Array.from({ length: count }, (_, index) => index);
    await mapBounded(indexes, IN_FLIGHT_MAX, (index) => this.addNode(`${prefix}-${index}`, index));
    void this.#follow();
  }

  /** Registers one more node. */
  async addNode(name: string, index = this.#nodes.size): Promise<void> {
    const { labels, resources = RESOURCES, kubeletVersion = 'v1.36.3' } = this.options;
    const shape: NodeShape = {
      name,
      hostIP: addressOf(index),
      labels: labels?.(index) ?? {},
      resources,
      kubeletVersion,
      kubeletPort: this.options.kubelets ? await this.#kubelets.serve(name) : undefined,
    };
    const node: Node = { shape, uid: '', ready: 'True', running: true, schedulable: true };
    this.#nodes.set(name, node);
    node.uid = await this.#register(node);
    if (this.options.clearTaint) await this.clearTaints(name);
    await this.#heart.start(name);
  }

  /** Removes all taints of a node. */
  async clearTaints(name: string): Promise<void> {
    await this.api.patch('nodes', '', name, { spec: { taints: null } });
  }

  /** Posts the Ready condition as the kubelet of that node would. */
  async setReady(name: string, ready: Readiness): Promise<void> {
    const node = this.#node(name);
    node.ready = ready;
    const { status } = await this.api.get('nodes', '', name);
    const conditions = nodeConditions(ready, status.conditions);
    const body = { status: { conditions } };
    await this.api.patch('nodes', '', name, body, { type: 'strategic', subresource: 'status' });
  }

  /** The kubelet dies: no heartbeat, no endpoint, no pod moves. The objects stay. */
  stopKubelet(name: string): void {
    this.#node(name).running = false;
    this.#heart.stop(name);
    this.#kubelets.close(name);
  }

  /** The kubelet comes back. */
  async startKubelet(name: string): Promise<void> {
    this.#node(name).running = true;
    if (this.options.kubelets) await this.#kubelets.serve(name);
    await this.#heart.start(name);
    await this.setReady(name, 'True');
    this.#runner.wake(name);
  }

  /** The node is taken away, Node object and all. */
  async removeNode(name: string): Promise<void> {
    this.stopKubelet(name);
    this.#nodes.delete(name);
    await this.api.remove('nodes', '', name);
  }

  /** Changes what a running pod does, e.g. { behaviour: 'finish' } or { behaviour: 'unready' }. */
  orderPod(namespace: string, name: string, change: Partial<PodPlan>): void {
    this.#runner.order(namespace, name, change);
  }

  /** Ends the simulation; the objects stay as they are. */
  stop(): void {
    this.#stop.abort();
    this.#runner.stop();
    this.#heart.stopAll();
    this.#kubelets.closeAll();
    this.#bindings.clear();
  }

  #node(name: string): Node {
    const node = this.#nodes.get(name);
    if (node) return node;
    throw new Error(`no simulated node "${name}"; there are ${this.names.join(', ')}`);
  }

  async #register(node: Node): Promise<string> {
    const object = nodeObject(node.shape, node.ready);
    try {
      return (await this.api.create(object)).metadata.uid;
    } catch (error) {
      if (!(error instanceof ApiFailure && error.status === 409)) throw error;
    }
    const { name } = node.shape;
    await this.setReady(name, node.ready);
    const body = { status: kubeletEndpoint(node.shape) };
    await this.api.patch('nodes', '', name, body, { type: 'strategic', subresource: 'status' });
    return (await this.api.get('nodes', '', name)).metadata.uid;
  }

  /** Lists and watches pods for ever; a lost watch is resumed, an expired one listed again. */
  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const silence = new Silence(WATCH_SILENCE_MS_MAX, signal);
      try {
        this.#version ??= await this.#list();
        await this.#watch(this.#version, silence);
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof ApiFailure && error.status === 410) this.#version = undefined;
        await Bun.sleep(WATCH_RETRY_MS);
      } finally {
        silence.end();
      }
    }
  }

  async #watch(resourceVersion: string, silence: Silence): Promise<void> {
    const query = { resourceVersion, allowWatchBookmarks: true };
    for await (const { type, object } of this.api.watch('pods', '', query, silence.signal)) {
      silence.broken();
      if (type === 'ERROR') {
        this.#version = undefined;
        return;
      }
      this.#version = object.metadata.resourceVersion as string;
      if (type === 'DELETED') this.#runner.gone(object.metadata.uid);
      else if (type !== 'BOOKMARK') this.#seen(object);
    }
  }

  async #list(): Promise<string> {
    const uids = new Set<string>();
    let token: string | undefined;
    for (;;) {
      const page = await this.api.listPage('pods', '', { limit: LIST_PAGE, continue: token });
      for (const pod of page.items) {
        uids.add(pod.metadata.uid);
        this.#seen(pod);
      }
      token = page.metadata.continue || undefined;
      if (token) continue;
      this.#runner.keepOnly(uids);
      return page.metadata.resourceVersion;
    }
  }

  #seen(pod: Obj): void {
    if (pod.spec.nodeName) this.#runner.seen(pod);
    else if (this.options.bind) this.#bind(pod);
  }

  #bind(pod: Obj): void {
    const { metadata, spec } = pod;
    if (metadata.deletionTimestamp || (spec.schedulingGates ?? []).length > 0) return;
    const node = wantedNode(pod) ?? this.#nextNode();
    if (node === undefined) return;
    void this.#bindings.run(async () => {
      try {
        await this.api.bind(metadata.namespace, metadata.name, node);
      } catch (error) {
        const late = error instanceof ApiFailure && [404, 409].includes(error.status);
        if (!late && !this.#stop.signal.aborted) setTimeout(() => this.#bind(pod), WATCH_RETRY_MS);
      }
    });
  }

  #nextNode(): string | undefined {
    const able = [...this.#nodes.values()].filter((node) => node.running && node.ready === 'True');
    this.#turn += 1;
    return able[this.#turn % Math.max(1, able.length)]?.shape.name;
  }
}

/** An address for each of some 65,000 nodes. */
export function addressOf(index: number): string {
  const number = index + 1;
  return `172.16.${(number >> 8) & 255}.${number & 255}`;
}

/** Ends a watch that tells nothing, not even a bookmark, as a connection does that died quietly. */
class Silence {
  readonly #dead = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly signal: AbortSignal;

  constructor(mostMs: number, stop: AbortSignal) {
    this.#timer = setTimeout(() => this.#dead.abort(), mostMs);
    this.#timer.unref();
    this.signal = AbortSignal.any([stop, this.#dead.signal]);
  }

  broken(): void {
    this.#timer.refresh();
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

/** The node a DaemonSet pod is meant for: affinity to one metadata.name. */
function wantedNode(pod: Obj): string | undefined {
  const required = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const fields: Obj[] = required?.nodeSelectorTerms?.[0]?.matchFields ?? [];
  return fields.find((one) => one.key === 'metadata.name')?.values?.[0];
}

/** Starts simulated nodes in this process; they stop with the cluster, or by stop(). */
export async function simulateNodes(
  cluster: HasApi,
  options: NodesOptions = {},
): Promise<NodeSimulator> {
  const simulator = new NodeSimulator(cluster.api, options);
  cluster.onStop?.(() => simulator.stop());
  await simulator.start();
  return simulator;
}
