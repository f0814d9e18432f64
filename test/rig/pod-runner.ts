/** The half of a simulated kubelet that runs pods: level-based, one entry a pod. */
import { type Api, ApiFailure, type Obj } from './api.ts';
import type { RunningPod } from './kubelet.ts';
import {
  crashStatus,
  endedStatus,
  type PodFacts,
  type PodPlan,
  planOf,
  runningStatus,
  timestamp,
} from './pod-plan.ts';
import { Meter, usageOf } from './pod-usage.ts';
import { Pool } from './pool.ts';

/** Where pods may run. */
export interface RunnerHost {
  /** The address of a simulated node, undefined when the node is not one of ours. */
  address(node: string): string | undefined;
  /** False while the kubelet of that node is stopped. */
  running(node: string): boolean;
  /** Defaults for a pod's plan. */
  defaults(pod: Obj): Partial<PodPlan>;
}

type Stage = 'new' | 'running' | 'ready' | 'ended';

interface Entry {
  readonly namespace: string;
  readonly name: string;
  readonly node: string;
  readonly facts: PodFacts;
  readonly restartPolicy: string;
  readonly meter: Meter;
  plan: PodPlan;
  stage: Stage;
  restarts: number;
  /** When the present stage began, and the deletion request was seen; milliseconds. */
  since: number;
  deletingSince: number | undefined;
  /** Gone from our side: DELETE was sent. */
  deleted: boolean;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** A write is under way or waiting for its turn. */
  busy: boolean;
}

/** Counters since the start. */
export interface RunnerStats {
  readonly pods: number;
  readonly ready: number;
  readonly writes: number;
  readonly errors: number;
}

const IN_FLIGHT_MAX = 16;
const RETRY_MS = 500;

function stageOf(pod: Obj): Stage {
  const { phase, conditions = [] } = pod.status ?? {};
  if (phase === 'Succeeded' || phase === 'Failed') return 'ended';
  if (phase !== 'Running') return 'new';
  const ready = conditions.find((one: Obj) => one.type === 'Ready');
  return ready?.status === 'True' ? 'ready' : 'running';
}

/** Runs the pods of all simulated nodes of one process. */
export class PodRunner {
  readonly #entries = new Map<string, Entry>();
  readonly #pool = new Pool(IN_FLIGHT_MAX);
  #addresses = 0;
  #writes = 0;
  #errors = 0;
  #stopped = false;

  constructor(
    private readonly api: Api,
    private readonly host: RunnerHost,
  ) {}

  get stats(): RunnerStats {
    let ready = 0;
    for (const entry of this.#entries.values()) if (entry.stage === 'ready') ready += 1;
    return { pods: this.#entries.size, ready, writes: this.#writes, errors: this.#errors };
  }

  /** A pod was seen (added, changed, or listed). */
  seen(pod: Obj): void {
    const node: string | undefined = pod.spec.nodeName;
    if (!node || this.host.address(node) === undefined) return;
    const { uid } = pod.metadata;
    const entry = this.#entries.get(uid) ?? this.#add(pod, node);
    entry.meter.change(usageOf(pod), Date.now());
    if (pod.metadata.deletionTimestamp && entry.deletingSince === undefined) {
      entry.deletingSince = performance.now();
      clearTimeout(entry.timer);
    }
    this.#advance(entry);
  }

  /** The pods of a node whose containers run. */
  runningOn(node: string): RunningPod[] {
    return [...this.#entries.values()]
      .filter((one) => one.node === node && (one.stage === 'running' || one.stage === 'ready'))
      .map(({ namespace, name, facts, meter }) => {
        const containers = [...facts.containers, ...facts.sidecars].map((one) => one.name);
        return { namespace, name, uid: facts.uid, containers, meter };
      });
  }

  /** A pod is gone. */
  gone(uid: string): void {
    const entry = this.#entries.get(uid);
    if (entry) clearTimeout(entry.timer);
    this.#entries.delete(uid);
  }

  /** After a full list: forgets the pods that are not in it. */
  keepOnly(uids: ReadonlySet<string>): void {
    for (const uid of [...this.#entries.keys()]) if (!uids.has(uid)) this.gone(uid);
  }

  /** Changes the plan of a pod that is known already and carries on from its present stage. */
  order(namespace: string, name: string, change: Partial<PodPlan>): void {
    for (const entry of this.#entries.values()) {
      if (entry.namespace !== namespace || entry.name !== name) continue;
      entry.plan = { ...entry.plan, ...change };
      this.#advance(entry);
      return;
    }
    throw new Error(`no pod ${namespace}/${name} on a simulated node`);
  }

  /** Looks at all pods of a node again, after its kubelet has been started. */
  wake(node: string): void {
    for (const entry of this.#entries.values()) if (entry.node === node) this.#advance(entry);
  }

  stop(): void {
    this.#stopped = true;
    this.#pool.clear();
    for (const entry of this.#entries.values()) clearTimeout(entry.timer);
  }

  #add(pod: Obj, node: string): Entry {
    const { metadata, spec } = pod;
    const brief = (list: Obj[] = []) => list.map(({ name, image }) => ({ name, image }));
    const sidecar = (one: Obj) => one.restartPolicy === 'Always';
    const inits: Obj[] = spec.initContainers ?? [];
    const hostIP = this.host.address(node) ?? '';
    const startTime: string = pod.status?.startTime ?? timestamp();
    const entry: Entry = {
      namespace: metadata.namespace,
      name: metadata.name,
      node,
      restartPolicy: spec.restartPolicy,
      facts: {
        uid: metadata.uid,
        generation: metadata.generation,
        hostIP,
        podIP: pod.status?.podIP ?? (spec.hostNetwork ? hostIP : this.#address()),
        startTime,
        containers: brief(spec.containers),
        sidecars: brief(inits.filter(sidecar)),
        initContainers: brief(inits.filter((one) => !sidecar(one))),
      },
      meter: new Meter(Date.parse(startTime), usageOf(pod)),
      plan: planOf(pod, this.host.defaults(pod)),
      stage: stageOf(pod),
      restarts: pod.status?.containerStatuses?.[0]?.restartCount ?? 0,
      since: performance.now(),
      deletingSince: undefined,
      deleted: false,
      timer: undefined,
      busy: false,
    };
    this.#entries.set(metadata.uid, entry);
    return entry;
  }

  #address(): string {
    const n = this.#addresses++;
    return `10.${64 + ((n >> 16) & 127)}.${(n >> 8) & 255}.${n & 255}`;
  }

  /** Does the next thing that is due for a pod, or sets the timer for it. */
  #advance(entry: Entry): void {
    if (entry.busy || this.#stopped || !this.host.running(entry.node)) return;
    const { plan } = entry;
    if (entry.deletingSince !== undefined) {
      if (!entry.deleted) {
        this.#at(entry, entry.deletingSince + plan.terminateAfterMs, () => this.#terminate(entry));
      }
      return;
    }
    if (entry.stage === 'ended' || plan.behaviour === 'hang') return;
    if (plan.behaviour === 'crash') {
      this.#crash(entry);
      return;
    }
    const ends = plan.behaviour === 'finish' || plan.behaviour === 'fail';
    if (ends && (entry.stage === 'ready' || plan.finishAfterMs === 0)) {
      this.#at(entry, entry.since + plan.finishAfterMs, () => this.#end(entry));
      return;
    }
    this.#start(entry, ends);
  }

  #start(entry: Entry, ends: boolean): void {
    const { plan, facts } = entry;
    const wantReady = plan.behaviour !== 'unready';
    const at = entry.since + (ends ? 0 : plan.readyAfterMs);
    if (wantReady && entry.stage !== 'ready' && at <= performance.now()) {
      this.#write(entry, 'ready', runningStatus(facts, true));
    } else if (entry.stage === 'new' || (!wantReady && entry.stage === 'ready')) {
      this.#write(entry, 'running', runningStatus(facts, false), entry.since);
    } else if (wantReady && entry.stage === 'running') {
      this.#at(entry, at, () => this.#write(entry, 'ready', runningStatus(facts, true)));
    }
  }

  #crash(entry: Entry): void {
    const { plan, facts, stage } = entry;
    if (entry.restartPolicy === 'Never') {
      this.#at(entry, entry.since + plan.readyAfterMs, () => this.#end(entry));
      return;
    }
    const pause = stage === 'running' ? plan.finishAfterMs : plan.readyAfterMs;
    this.#at(entry, entry.since + pause, () => {
      entry.restarts += 1;
      this.#write(entry, 'running', crashStatus(facts, entry.restarts, plan.exitCode));
    });
  }

  #end(entry: Entry): void {
    const { behaviour, exitCode, reason } = entry.plan;
    const failed = behaviour !== 'finish' || exitCode !== 0;
    this.#write(entry, 'ended', endedStatus(entry.facts, exitCode, failed, reason));
  }

  #terminate(entry: Entry): void {
    const { plan, facts, stage, restartPolicy } = entry;
    const report = plan.terminateExitCode !== undefined || restartPolicy !== 'Always';
    if (report && stage !== 'ended') {
      const exitCode = plan.terminateExitCode ?? 143;
      this.#write(entry, 'ended', endedStatus(facts, exitCode, exitCode !== 0));
      return;
    }
    this.#send(entry, async () => {
      const options = { gracePeriodSeconds: 0, uid: facts.uid };
      await this.api.remove('pods', entry.namespace, entry.name, options);
      entry.deleted = true;
    });
  }

  #at(entry: Entry, when: number, act: () => void): void {
    clearTimeout(entry.timer);
    const wait = when - performance.now();
    if (wait <= 0) {
      act();
      return;
    }
    entry.timer = setTimeout(() => {
      if (!this.#stopped && this.host.running(entry.node) && !entry.busy) act();
    }, wait);
  }

  #write(entry: Entry, stage: Stage, status: object, since?: number): void {
    this.#send(entry, async () => {
      const body = { metadata: { uid: entry.facts.uid }, status };
      await this.api.patch('pods', entry.namespace, entry.name, body, {
        type: 'strategic',
        subresource: 'status',
      });
      entry.stage = stage;
      entry.since = since ?? performance.now();
    });
  }

  /** True when a write failed because its pod is gone. A conflict can also be a race that was lost. */
  async #isGone({ namespace, name, facts }: Entry, error: unknown): Promise<boolean> {
    if (!(error instanceof ApiFailure)) return false;
    if (error.status !== 409) return error.status === 404;
    try {
      const pod = await this.api.find('pods', namespace, name);
      return pod?.metadata.uid !== facts.uid;
    } catch {
      return false;
    }
  }

  /** One write at a time per pod; afterwards the pod is looked at again. */
  #send(entry: Entry, call: () => Promise<void>): void {
    entry.busy = true;
    clearTimeout(entry.timer);
    void this.#pool.run(async () => {
      let pause = 0;
      try {
        this.#writes += 1;
        await call();
      } catch (error) {
        if (await this.#isGone(entry, error)) return this.gone(entry.facts.uid);
        this.#errors += 1;
        pause = RETRY_MS;
      }
      entry.busy = false;
      if (pause > 0) entry.timer = setTimeout(() => this.#advance(entry), pause);
      else this.#advance(entry);
    });
  }
}
