/**
 * taint-eviction-controller: pods leave nodes with NoExecute taints, at once or when the time they
 * tolerate them is over. `decide.ts` says which and when, `pending.ts` remembers who waits.
 */
import { tolerationsOf } from '../../api/pod.ts';
import { NODES, PODS } from '../../api/resource.ts';
import { sameTaints, type TolerationRules } from '../../api/taint.ts';
import type { Node, Pod } from '../../api/types/index.ts';
import type {
  Controller,
  ControllerContext,
  ControllerDefinition,
  EventRecorder,
  SyncRun,
  WorkQueue,
} from '../../runtime/controller.ts';
import type { Informer, NodeRecord, PodRecord } from '../../runtime/informer/types.ts';
import { waitsForCaches } from '../_kit/caught-up.ts';
import { type Decision, decide } from './decide.ts';
import { cancelled, marked } from './events.ts';
import { evict, isFinal } from './evict.ts';
import { type CountEviction, evictionMetrics } from './metrics.ts';
import { PendingEvictions } from './pending.ts';

const NAME = 'taint-eviction-controller';
const WORKERS = 8;

/** The passport of the taint eviction controller. */
export const taintEvictionController: ControllerDefinition = {
  name: NAME,
  aliases: [],
  gates: ['SeparateTaintEvictionController'],
  enabledByDefault: true,
  account: 'node-controller',
  watches: [PODS, NODES],
  writes: ['pods/status patch', 'pods delete'],
  flags: [],
  build,
};

function build(context: ControllerContext): Controller {
  const evictions = new TaintEvictions(context);
  evictions.listen();
  const { nodeQueue, podQueue } = evictions;
  return {
    start: () => evictions.lookAfterAll(),
    queues: [
      {
        queue: nodeQueue,
        workers: WORKERS,
        announcesNothing: true,
        reconcile: async (name) => evictions.askPodsOf(name),
      },
      {
        queue: podQueue,
        workers: WORKERS,
        announcesNothing: true,
        reconcile: (key, run) => evictions.reconcile(key, run),
      },
    ],
  };
}

class TaintEvictions {
  readonly nodeQueue: WorkQueue;
  readonly podQueue: WorkQueue;
  readonly #context: ControllerContext;
  readonly #pods: Informer<Pod, PodRecord>;
  readonly #nodes: Informer<Node, NodeRecord>;
  readonly #pending: PendingEvictions;
  readonly #events: EventRecorder;
  readonly #count: CountEviction;
  readonly #rules: TolerationRules;
  /** Pods of which something changed since they were last looked at. */
  readonly #asked = new Set<string>();

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#pods = context.informers.pods();
    this.#nodes = context.informers.of<Node, NodeRecord>(NODES);
    this.nodeQueue = context.queue('noexec_taint_node');
    this.podQueue = context.queue('noexec_taint_pod');
    this.#pending = new PendingEvictions(context);
    this.#events = context.events(NAME);
    this.#count = evictionMetrics(context.metrics);
    this.#rules = { comparison: context.gate('TaintTolerationComparisonOperators') };
  }

  listen(): void {
    this.#nodes.addHandler({
      add: ({ name, noExecute }, initial) => {
        // One that came back without its taints lets those go who waited on its namesake.
        if (!initial || noExecute.length > 0) this.nodeQueue.add(name);
      },
      update: ({ name, noExecute }, previous) => {
        if (!sameTaints(noExecute, previous.noExecute)) this.nodeQueue.add(name);
      },
    });
    this.#pods.addHandler({
      add: (pod) => this.#concern(pod),
      update: (pod, previous) => {
        const isSame = pod.uid === previous.uid && pod.nodeName === previous.nodeName;
        if (!isSame || pod.tolerations !== previous.tolerations) this.#concern(pod);
      },
      delete: (pod) => this.#concern(pod),
    });
  }

  /** Those who waited in the process before are looked at, whatever the handlers told. */
  lookAfterAll(): void {
    for (const key of this.#pending.keys()) this.#ask(key);
  }

  /** The taints of a node changed: all its pods are asked, or only those that wait. */
  askPodsOf(name: string): void {
    const taints = this.#nodes.lister.record(name)?.noExecute;
    if (taints === undefined) return;
    for (const { key } of this.#pods.lister.byIndex('nodeName', name)) {
      if (taints.length > 0 || this.#pending.has(key)) this.#ask(key);
    }
  }

  async reconcile(key: string, run: SyncRun): Promise<void> {
    const caughtUp = (): boolean => this.#pods.caughtUp() && this.#nodes.caughtUp();
    if (waitsForCaches(run, caughtUp)) return;
    const asked = this.#asked.delete(key);
    const pod = this.#pods.lister.record(key);
    const taints = pod && this.#nodes.lister.record(pod.nodeName)?.noExecute;
    const pending = this.#pending.get(key, taints);
    const observed = pod && {
      uid: pod.uid,
      nodeName: pod.nodeName,
      tolerations: tolerationsOf(pod),
    };
    const decision = decide({ pod: observed, taints, pending, asked }, this.#rules);
    if (decision.cancels) {
      this.#pending.forget(key);
      cancelled(this.#events, key);
      run.note(`cancelled: ${decision.because}`);
    }
    if (pod !== undefined) await this.#carryOut(run, pod, decision, pending?.leftMs ?? 0);
  }

  async #carryOut(
    run: SyncRun,
    { key, uid, nodeName }: PodRecord,
    { act, because, cancels }: Decision,
    leftMs: number,
  ): Promise<void> {
    const taints = this.#nodes.lister.record(nodeName)?.noExecute ?? [];
    if (act.kind === 'start') {
      this.#pending.start(key, uid, act.delayMs, taints);
      run.again(act.delayMs, because);
    } else if (act.kind === 'wait') {
      if (taints.length > 0) this.#pending.keep(key, taints);
      run.again(act.leftMs, because);
    } else if (act.kind === 'evict') {
      await this.#evict(run, { key, uid, because }, cancels ? 0 : Math.max(0, -leftMs));
    }
  }

  async #evict(
    run: SyncRun,
    victim: { readonly key: string; readonly uid: string; readonly because: string },
    lateMs: number,
  ): Promise<void> {
    const { clock, log } = this.#context;
    const { key } = victim;
    const startedAt = clock.monotonic();
    log.info('Deleting pod', { controller: NAME, pod: key });
    marked(this.#events, key);
    try {
      const evicted = await evict(run, victim, clock);
      if (evicted) this.#count(lateMs + clock.monotonic() - startedAt);
    } catch (error) {
      if (!isFinal(error)) {
        this.#asked.add(key);
        throw error;
      }
      log.error('TaintEvictionController: timed worker failed', error, { pod: key });
    }
    this.#pending.forget(key);
  }

  #concern({ key, nodeName }: PodRecord): void {
    const taints = this.#nodes.lister.record(nodeName)?.noExecute ?? [];
    if (taints.length > 0 || this.#pending.has(key)) this.#ask(key);
  }

  #ask(key: string): void {
    this.#asked.add(key);
    this.podQueue.add(key);
  }
}
