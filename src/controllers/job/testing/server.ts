/** An API server of one Job and its pods in memory, with kubelets that do what a test says. */
import { ApiError, TransportError } from '../../../api/errors.ts';
import { keyOf } from '../../../api/meta.ts';
import { timeText } from '../../../api/time.ts';
import type { Job, KubeObject, Pod } from '../../../api/types/index.ts';

/** What becomes of the next calls: not sent, sent without an answer, or both as they come. */
export type Fault = 'unsent' | 'lost';

/** A change as a watch tells it. */
export type Change<T> = { readonly object: T; readonly deleted: boolean };

const GRACE_SECONDS = 30;

/** A definite answer with this reason. */
export function refusal(code: number, reason: string, field?: string): ApiError {
  const details =
    field === undefined ? undefined : { causes: [{ field, reason: 'FieldValueInvalid' }] };
  return new ApiError(code, reason, { code, reason, message: reason, status: 'Failure', details });
}

/** Keeps the objects, and what the watches have not delivered yet. */
export class JobServer {
  job: Job;
  readonly pods = new Map<string, Pod>();
  readonly jobChanges: Change<Job>[] = [];
  readonly podChanges: Change<Pod>[] = [];
  /** UIDs of all pods that ever succeeded, or ended otherwise while the Job ran. */
  readonly everSucceeded = new Set<string>();
  readonly everFailed = new Set<string>();
  /** Of those that succeeded: being deleted then, they may have been counted as failed before. */
  readonly late = new Set<string>();
  /** Statuses that no API server would take. */
  readonly violations: string[] = [];
  /** Pods that were created, ever. */
  created = 0;
  now: number;
  /** What the next write calls come to, one each. */
  readonly faults: Fault[] = [];
  #version = 100;

  constructor(job: Job, now: number) {
    this.now = now;
    this.job = { ...job, metadata: { ...job.metadata, resourceVersion: this.#next() } };
    this.jobChanges.push({ object: this.job, deleted: false });
  }

  get version(): string {
    return String(this.#version);
  }

  /** Pods that neither have ended nor are going. */
  get active(): readonly Pod[] {
    return [...this.pods.values()].filter(
      ({ metadata, status }) =>
        metadata.deletionTimestamp === undefined &&
        status?.phase !== 'Succeeded' &&
        status?.phase !== 'Failed',
    );
  }

  /** A write of the controller: it may fail before or after it takes effect. */
  async call<T>(write: () => T): Promise<T> {
    const fault = this.faults.shift();
    if (fault === 'unsent') throw new TransportError('connection refused');
    const result = write();
    if (fault === 'lost') throw new TransportError('connection reset');
    return result;
  }

  /** A person changes the spec. */
  edit(spec: Partial<NonNullable<Job['spec']>>): void {
    const { generation = 1 } = this.job.metadata;
    const before = this.job.spec ?? { template: {} };
    this.#storeJob({
      ...this.job,
      metadata: { ...this.job.metadata, generation: generation + 1 },
      spec: { ...before, ...spec },
    });
  }

  updateStatus(body: Job): Job {
    if (body.metadata.resourceVersion !== this.job.metadata.resourceVersion) {
      throw refusal(409, 'Conflict');
    }
    const problems = problemsOf(body);
    this.violations.push(...problems);
    if (problems.length > 0) throw refusal(422, 'Invalid');
    this.#storeJob({ ...this.job, status: JSON.parse(JSON.stringify(body.status)) });
    return this.job;
  }

  create(body: Pod): Pod {
    const key = keyOf(body.metadata);
    if (this.pods.has(key)) throw refusal(409, 'AlreadyExists');
    const uid = `uid-${++this.created}-${body.metadata.name}`;
    const metadata = { ...body.metadata, uid, creationTimestamp: timeText(this.now) };
    return this.#storePod({ ...body, metadata, status: { phase: 'Pending' } });
  }

  remove(key: string, uid: string | undefined): void {
    const pod = this.pods.get(key);
    if (pod === undefined) throw refusal(404, 'NotFound');
    if (uid !== undefined && pod.metadata.uid !== uid) throw refusal(409, 'Conflict');
    if (pod.metadata.deletionTimestamp !== undefined) return;
    const deletionTimestamp = timeText(this.now + GRACE_SECONDS * 1000);
    const metadata = {
      ...pod.metadata,
      deletionTimestamp,
      deletionGracePeriodSeconds: GRACE_SECONDS,
    };
    this.#storePod({ ...pod, metadata });
    if (pod.status?.phase !== 'Running') this.stopped(key);
  }

  /** A strategic merge patch, as far as the controller sends any. */
  patch(key: string, body: object): Pod {
    const pod = this.pods.get(key);
    if (pod === undefined) throw refusal(404, 'NotFound');
    const { metadata } = body as { metadata: Readonly<Record<string, unknown>> };
    if (metadata.uid !== pod.metadata.uid) throw refusal(422, 'Invalid', 'metadata.uid');
    const gone = (metadata['$deleteFromPrimitiveList/finalizers'] ?? []) as string[];
    const finalizers = (pod.metadata.finalizers ?? []).filter((one) => !gone.includes(one));
    const stored = this.#storePod({ ...pod, metadata: { ...pod.metadata, finalizers } });
    this.#mayGo(key);
    return stored;
  }

  /** The kubelet starts the pod, or reports how it ended. */
  phase(key: string, phase: 'Running' | 'Succeeded' | 'Failed'): void {
    const pod = this.pods.get(key);
    const ended = pod?.status?.phase === 'Succeeded' || pod?.status?.phase === 'Failed';
    if (pod === undefined || ended) return;
    const { uid, deletionTimestamp } = pod.metadata;
    if (phase === 'Succeeded') this.everSucceeded.add(uid);
    if (phase === 'Succeeded' && deletionTimestamp !== undefined) this.late.add(uid);
    if (phase === 'Failed') this.everFailed.add(uid);
    const ready = { type: 'Ready', status: phase === 'Running' ? 'True' : 'False' };
    const conditions = [{ ...ready, lastTransitionTime: timeText(this.now) }];
    this.#storePod({ ...pod, status: { ...pod.status, phase, conditions } });
  }

  /** The kubelet has stopped a pod that is going: it has failed; without finalizers it is gone. */
  stopped(key: string): void {
    const pod = this.pods.get(key);
    if (pod?.metadata.deletionTimestamp === undefined) return;
    this.phase(key, 'Failed');
    this.#stopped.add(pod.metadata.uid);
    this.#mayGo(key);
  }

  readonly #stopped = new Set<string>();

  #mayGo(key: string): void {
    const pod = this.pods.get(key);
    if (pod === undefined || (pod.metadata.finalizers ?? []).length > 0) return;
    if (!this.#stopped.has(pod.metadata.uid)) return;
    this.pods.delete(key);
    const metadata = { ...pod.metadata, resourceVersion: this.#next() };
    this.podChanges.push({ object: { ...pod, metadata }, deleted: true });
  }

  #storeJob(job: Job): void {
    this.job = { ...job, metadata: { ...job.metadata, resourceVersion: this.#next() } };
    this.jobChanges.push({ object: this.job, deleted: false });
  }

  #storePod(pod: Pod): Pod {
    const metadata = { ...pod.metadata, resourceVersion: this.#next() };
    const stored = { ...pod, metadata };
    this.pods.set(keyOf(metadata), stored);
    this.podChanges.push({ object: stored, deleted: false });
    return stored;
  }

  #next(): string {
    return String(++this.#version);
  }
}

/** What the API server would find wrong with a status. */
function problemsOf({ status }: Job): string[] {
  const { active = 0, ready = 0, terminating = 0, conditions = [], completionTime } = status ?? {};
  const { succeeded = [], failed = [] } = status?.uncountedTerminatedPods ?? {};
  const ended = conditions.some(
    ({ type, status: value }) => (type === 'Complete' || type === 'Failed') && value === 'True',
  );
  const problems = [
    ready > active && 'more ready than active pods',
    (active < 0 || ready < 0 || terminating < 0) && 'a negative count',
    ended && active > 0 && 'ended with active pods',
    ended && terminating > 0 && 'ended with terminating pods',
    ended && succeeded.length + failed.length > 0 && 'ended with uncounted pods',
    !ended && completionTime !== undefined && 'a completion time before the end',
    new Set([...succeeded, ...failed]).size < succeeded.length + failed.length && 'a UID twice',
  ];
  return problems.filter((problem) => problem !== false);
}

/** For readers of objects: the pod or the Job at a key. */
export function mustFind<T extends KubeObject>(object: T | undefined): T {
  if (object === undefined) throw refusal(404, 'NotFound');
  return object;
}
