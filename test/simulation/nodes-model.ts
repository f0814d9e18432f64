/** Scheduler and kubelets of the model: pods are bound, start, get ready, fail, finish and go. */
import { NODES, PODS, resourceId } from '../../src/api/resource.ts';
import type { Json, Obj } from '../rig/api.ts';
import { type Change, keyOf, type ModelApi, Refused } from './api-model.ts';
import type { Dice } from './dice.ts';
import type { Timeline } from './timeline.ts';

const PODS_ID = resourceId(PODS);

export class ModelNodes {
  readonly #time: Timeline;
  readonly #api: ModelApi;
  readonly #dice: Dice;
  /** Pods (UID) for which something is planned, by what. */
  readonly #planned = new Map<string, Set<string>>();
  /** Pods fail and are slow by chance only while this holds. */
  troubled = true;

  constructor(time: Timeline, api: ModelApi, dice: Dice) {
    this.#time = time;
    this.#api = api;
    this.#dice = dice;
    api.onChange((change) => {
      if (change.resource === PODS_ID) this.#seen(change);
    });
  }

  add(name: string): void {
    const labels = { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux' };
    const resources = { cpu: '64', memory: '256Gi', pods: '110' };
    const status = {
      capacity: resources,
      allocatable: resources,
      conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }],
    };
    const body = { apiVersion: 'v1', kind: 'Node', metadata: { name, labels }, spec: {}, status };
    this.#api.create(NODES, '', body, 'node');
  }

  #seen({ type, object }: Change): void {
    const { uid, deletionTimestamp } = object.metadata;
    if (type === 'DELETED') {
      this.#planned.delete(uid);
      return;
    }
    if (deletionTimestamp !== undefined) {
      if (object.spec.nodeName) this.#planEnd(object);
      return;
    }
    const phase = object.status?.phase ?? 'Pending';
    if (!object.spec.nodeName) this.#plan(object, 'bind', this.#dice.longTail(300, 15_000));
    else if (phase === 'Pending') this.#plan(object, 'run', this.#dice.longTail(2_000, 60_000));
    else if (phase === 'Running') this.#planLife(object);
  }

  /** Pods of Jobs come to an end; of others few fail. */
  #planLife(pod: Obj): void {
    if (pod.spec.restartPolicy !== 'Always') {
      const failing = this.troubled && this.#dice.chance(0.15);
      const after = this.#dice.longTail(15_000, 600_000);
      this.#plan(pod, failing ? 'fail' : 'succeed', after);
    } else if (this.troubled && this.#dice.chance(0.02)) {
      this.#plan(pod, 'fail', this.#dice.between(1_000, 600_000));
    }
  }

  #planEnd(pod: Obj): void {
    const graceMs = (pod.metadata.deletionGracePeriodSeconds ?? 0) * 1e3;
    const last = this.#dice.chance(0.3) ? 'finish' : 'end';
    this.#plan(pod, last, this.#dice.between(100, 200 + graceMs));
  }

  #plan(pod: Obj, what: string, afterMs: number): void {
    const { uid } = pod.metadata;
    const known = this.#planned.get(uid) ?? new Set();
    this.#planned.set(uid, known);
    const isLife = what === 'fail' || what === 'succeed';
    const kind = isLife ? 'life' : what === 'end' || what === 'finish' ? 'end' : what;
    if (known.has(kind)) return;
    known.add(kind);
    this.#time.after(afterMs, () => this.#happen(keyOf(pod), uid, what));
  }

  #happen(key: string, uid: string, what: string): void {
    const pod = this.#api.find(PODS, key);
    if (pod?.metadata.uid !== uid) return;
    const isEnd = what === 'end' || what === 'finish';
    if (pod.metadata.deletionTimestamp !== undefined && !isEnd) return;
    try {
      if (what === 'bind') this.#bind(pod);
      else if (what === 'run') this.#status(pod, running(this.#time.wall));
      else if (what === 'fail') this.#status(pod, ended('Failed', 1, this.#time.wall));
      else if (what === 'succeed') this.#status(pod, ended('Succeeded', 0, this.#time.wall));
      else this.#end(pod, what === 'finish' ? 0 : 137);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
    }
  }

  /** A kubelet says how the containers ended before it lets the pod go. */
  #end(pod: Obj, exitCode: number): void {
    const key = keyOf(pod);
    const over = ['Succeeded', 'Failed'].includes(pod.status?.phase);
    const phase = exitCode === 0 && pod.spec.restartPolicy !== 'Always' ? 'Succeeded' : 'Failed';
    if (!over) this.#status(pod, ended(phase, exitCode, this.#time.wall));
    const options = { uid: pod.metadata.uid, gracePeriodSeconds: 0 };
    this.#api.delete(PODS, key, options, 'node');
  }

  #bind(pod: Obj): void {
    const name = wantedNode(pod);
    const all = this.#api.all(NODES).map((node) => node.metadata.name);
    const nodeName = name ?? this.#dice.pick(all);
    if (!all.includes(nodeName)) return;
    const conditions = [{ type: 'PodScheduled', status: 'True' }];
    const next = { ...pod, spec: { ...pod.spec, nodeName } };
    const bound = this.#api.update(PODS, keyOf(pod), next, '', 'node');
    this.#status(bound, { phase: 'Pending', conditions });
  }

  #status(pod: Obj, status: Json): void {
    const key = keyOf(pod);
    this.#api.update(
      PODS,
      key,
      { metadata: {}, status: { ...pod.status, ...status } },
      'status',
      'node',
    );
  }
}

function wantedNode(pod: Obj): string | undefined {
  const terms =
    pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
      ?.nodeSelectorTerms ?? [];
  return terms[0]?.matchFields?.[0]?.values?.[0];
}

function text(wall: number): string {
  return new Date(wall).toISOString().replace(/\.\d+Z$/, 'Z');
}

function running(wall: number): Json {
  const since = text(wall);
  const condition = (type: string) => ({ type, status: 'True', lastTransitionTime: since });
  const types = ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'];
  return { phase: 'Running', startTime: since, conditions: types.map(condition) };
}

function ended(phase: string, exitCode: number, wall: number): Json {
  const finishedAt = text(wall);
  const terminated = { exitCode, finishedAt, reason: exitCode === 0 ? 'Completed' : 'Error' };
  const containerStatuses = [{ name: 'main', state: { terminated } }];
  const condition = { type: 'Ready', status: 'False', lastTransitionTime: finishedAt };
  return { phase, containerStatuses, conditions: [condition] };
}
