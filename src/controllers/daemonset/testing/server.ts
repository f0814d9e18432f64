/** An API server and caches for tests of decisions: answers their steps from objects in memory. */
import type { ApiError } from '../../../api/errors.ts';
import { controllerReference, keyOf } from '../../../api/meta.ts';
import { podRecordFields } from '../../../api/pod.ts';
import { DAEMON_SETS } from '../../../api/resource.ts';
import { timeText } from '../../../api/time.ts';
import type { ControllerRevision, DaemonSet, ObjectMeta, Pod } from '../../../api/types/index.ts';
import { refusal } from '../../_kit/testing/fake-run.ts';
import type { Action, Answer, NodeCreation, Steps } from '../actions.ts';
import type { FailedPod } from '../backoff.ts';
import { decide } from '../decide.ts';
import { type NodeFacts, placementRule } from '../placement.ts';
import { type DaemonPod, HASH_LABEL, pinnedNode, pinnedTemplate, podTemplate } from '../pod.ts';
import { NOON } from './build.ts';

export class Server {
  set: DaemonSet;
  readonly nodes = new Map<string, NodeFacts>();
  readonly pods = new Map<string, Pod>();
  readonly revisions = new Map<string, ControllerRevision>();
  readonly actions: Action[] = [];
  readonly failures = new Map<string, FailedPod>();
  /** UIDs whose deletion is announced. */
  readonly going = new Set<string>();
  now = NOON;
  /** Creations and deletions that have not been seen yet. */
  unseen = false;
  /** Whether what a sync creates or deletes is awaited, as after a lagging watch. */
  awaits = true;
  /** Refuses a step; undefined lets it pass. */
  refuse: (action: Action) => ApiError | undefined = () => undefined;
  #version = 100;
  #names = 0;

  constructor(set: DaemonSet, nodes: readonly NodeFacts[], ...pods: readonly Pod[]) {
    this.set = set;
    for (const node of nodes) this.nodes.set(node.name, node);
    for (const pod of pods) this.pods.set(pod.metadata.name, pod);
  }

  /** Runs one sync and gives the steps it took. Throws what the sync throws. */
  sync(): readonly Action[] {
    const from = this.actions.length;
    const nodes = [...this.nodes.values()];
    const rule = placementRule(this.set, { comparison: false });
    const observed = {
      set: this.set,
      nodes,
      placements: new Map(nodes.map((node) => [node.name, rule(node)])),
      now: this.now,
      failedOn: (node: string) => this.failures.get(node),
      revisions: [...this.revisions.values()],
    };
    this.play(decide(observed));
    return this.actions.slice(from);
  }

  /** As `sync`, but gives the error that the sync threw, too. */
  trySync(): { readonly actions: readonly Action[]; readonly error?: Error } {
    const from = this.actions.length;
    try {
      return { actions: this.sync() };
    } catch (error) {
      return { actions: this.actions.slice(from), error: error as Error };
    }
  }

  /** Carries steps out to their end and gives what they come to. */
  play<T>(steps: Steps<T>): T {
    let step = steps.next();
    while (!step.done) {
      const action = step.value;
      this.actions.push(action);
      let answer: Answer;
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
    return step.value;
  }

  /** Changes the set's spec as a person would. */
  edit(spec: Partial<NonNullable<DaemonSet['spec']>>): void {
    const { metadata } = this.set;
    this.set = {
      ...this.set,
      metadata: this.#meta({ ...metadata, generation: (metadata.generation ?? 1) + 1 }),
      spec: this.set.spec && { ...this.set.spec, ...spec },
    };
  }

  /** Makes a pod run on its node, ready or not. */
  run(name: string, ready = true, phase = 'Running'): void {
    const pod = this.pods.get(name);
    if (pod?.spec === undefined) throw new Error(`no pod ${name}`);
    const lastTransitionTime = timeText(this.now);
    const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime }];
    const nodeName = pod.spec.nodeName ?? pinnedNode(pod);
    const metadata = this.#meta(pod.metadata);
    this.pods.set(name, {
      ...pod,
      metadata,
      spec: { ...pod.spec, nodeName },
      status: { phase, conditions },
    });
  }

  /** Hash of the revision that holds the present template, once a sync has made it. */
  get hash(): string {
    const newest = [...this.revisions.values()].sort((a, b) => a.revision - b.revision).at(-1);
    return newest?.metadata.labels?.[HASH_LABEL] ?? '';
  }

  members(): DaemonPod[] {
    return [...this.pods.values()].flatMap((pod) => {
      const record = podRecordFields(pod);
      const node = record.nodeName === '' ? pinnedNode(pod) : record.nodeName;
      if (node === undefined) return [];
      const announced = this.going.has(record.uid);
      const deleting = record.deleting || announced;
      return [{ record, node, deleting, unanswered: announced && !record.deleting }];
    });
  }

  #meta(metadata: Partial<ObjectMeta> & { readonly name: string }): ObjectMeta {
    const resourceVersion = String(++this.#version);
    return { uid: `${metadata.name}-uid`, namespace: 'default', ...metadata, resourceVersion };
  }

  #answer(action: Action): Answer {
    switch (action.kind) {
      case 'listPods':
        return this.members();
      case 'expectationsMet':
        return !this.unseen;
      case 'syncPods':
        for (const one of action.create) this.#createPod(one, action.hash);
        for (const { pod } of action.remove) this.#deletePod(pod);
        this.unseen = this.awaits;
        return undefined;
      case 'relabelPod':
        return this.#relabel(action.pod.record.name, action.hash);
      case 'rememberFailure':
        this.failures.set(action.node, { backoffMs: action.backoffMs, elapsedMs: 0 });
        return undefined;
      case 'createRevision':
        return this.#createRevision(action.revision as unknown as ControllerRevision);
      case 'patchRevision':
        return this.#patchRevision(action);
      case 'deleteRevision':
        this.#revision(action.revision.metadata.name);
        this.revisions.delete(action.revision.metadata.name);
        return undefined;
      case 'fetchRevision':
        return this.#revision(action.name);
      case 'fetchSet':
        return this.set;
      case 'bumpCollisions':
        return this.#putStatus({ ...this.set.status, collisionCount: action.to });
      case 'updateStatus':
        return this.#putStatus({ ...this.set.status, ...action.status });
      default:
        return undefined;
    }
  }

  #createPod({ node }: NodeCreation, hash: string): void {
    const name = `agent-${++this.#names}`;
    const { metadata, spec } = pinnedTemplate(podTemplate(this.set, hash), node);
    const ownerReferences = [controllerReference(this.set.metadata, DAEMON_SETS)];
    const creationTimestamp = timeText(this.now);
    const labels = metadata?.labels;
    this.pods.set(name, {
      metadata: this.#meta({ name, labels, ownerReferences, creationTimestamp }),
      spec,
      status: { phase: 'Pending' },
    });
  }

  #deletePod({ record }: DaemonPod): void {
    const pod = this.pods.get(record.name);
    if (pod === undefined || pod.metadata.uid !== record.uid) return;
    const deletionTimestamp = timeText(this.now);
    const metadata = this.#meta({ ...pod.metadata, deletionTimestamp });
    this.pods.set(record.name, { ...pod, metadata });
  }

  #relabel(name: string, hash: string): Pod | undefined {
    const pod = this.pods.get(name);
    if (pod === undefined) throw refusal(404, 'NotFound', `"${name}" not found`);
    const labels = { ...pod.metadata.labels, [HASH_LABEL]: hash };
    const next = { ...pod, metadata: this.#meta({ ...pod.metadata, labels }) };
    this.pods.set(name, next);
    return next;
  }

  #revision(name: string): ControllerRevision {
    const found = this.revisions.get(name);
    if (found === undefined) throw refusal(404, 'NotFound', `"${name}" not found`);
    return found;
  }

  #createRevision(body: ControllerRevision): ControllerRevision {
    const { name } = body.metadata;
    if (this.revisions.has(name)) throw refusal(409, 'AlreadyExists', `"${name}" already exists`);
    const stored = { ...body, metadata: this.#meta(body.metadata) };
    this.revisions.set(name, stored);
    return stored;
  }

  #patchRevision({
    revision,
    patch,
  }: Extract<Action, { kind: 'patchRevision' }>): ControllerRevision {
    const stored = this.#revision(revision.metadata.name);
    if (stored.metadata.resourceVersion !== revision.metadata.resourceVersion) {
      throw refusal(409, 'Conflict', `${keyOf(revision.metadata)} has been modified`);
    }
    const labels =
      'hash' in patch
        ? { ...stored.metadata.labels, [HASH_LABEL]: patch.hash }
        : stored.metadata.labels;
    const number = 'hash' in patch ? stored.revision : patch.revision;
    const next = {
      ...stored,
      revision: number,
      metadata: this.#meta({ ...stored.metadata, labels }),
    };
    this.revisions.set(next.metadata.name, next);
    return next;
  }

  #putStatus(status: Partial<NonNullable<DaemonSet['status']>>): DaemonSet {
    const metadata = this.#meta(this.set.metadata);
    this.set = { ...this.set, metadata, status: status as DaemonSet['status'] };
    return this.set;
  }
}
