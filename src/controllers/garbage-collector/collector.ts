/**
 * The three things a worker does: look whether an object must be deleted, cut an owner's dependents
 * loose, and tell the graph what was found absent. Everything is read live before it is written.
 */
import { FencedError, isNotFound } from '../../api/errors.ts';
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../../api/owners.ts';
import type { ObjectMeta, OwnerReference } from '../../api/types/index.ts';
import type { SyncRun, WorkQueue } from '../../runtime/controller.ts';
import { ORPHANED_AT_ONCE } from '../../runtime/limits.ts';
import { NotYet } from '../../runtime/requeue.ts';
import type { AbsentOwners } from './absent.ts';
import { type Action, decide, type Finding, stateOf } from './decide.ts';
import type { Graph } from './graph.ts';
import {
  type Identity,
  identityOf,
  identityOfKey,
  identityText,
  keyOfIdentity,
  shortText,
} from './identity.ts';
import type { Node } from './node.ts';
import {
  dropReferences,
  dropReferencesMerged,
  type Referring,
  unblockOwners,
  unblockOwnersMerged,
} from './patches.ts';
import { NoNamespace, type Server } from './server.ts';

export interface CollectorDeps {
  readonly graph: Graph;
  readonly server: Server;
  readonly absent: AbsentOwners;
  readonly toDelete: WorkQueue;
  readonly graphChanges: WorkQueue;
}

/** What the workers of the three queues call, with keys made of identities. */
export class Collector {
  readonly #deps: CollectorDeps;

  constructor(deps: CollectorDeps) {
    this.#deps = deps;
  }

  /** Deletes the object if nobody owns it any more; lets it go if it waited for its dependents. */
  async attemptToDelete(key: string, run: SyncRun): Promise<void> {
    const node = this.#nodeOf(key);
    if (node === undefined || (node.deleting && !node.waitsForDependents)) return;
    if (node.waitsForDependents && this.#queueBlocking(node)) return;
    const mayBeOwned = node.virtual || node.waitsForDependents || node.owners.length > 0;
    if (!mayBeOwned) return;
    const { identity } = node;
    try {
      if (!(await this.#collect(node, run))) {
        this.#deps.graphChanges.add(keyOfIdentity(identity));
        return;
      }
    } catch (error) {
      if (!(error instanceof NoNamespace)) throw error;
      // Asking again would not help; a change of the object brings it back.
      run.note(`${shortText(identity)}: ${error.message}`);
      return;
    }
    if (node.virtual && this.#deps.graph.get(node.uid) === node) {
      throw new NotYet(`${shortText(node.identity)} is there, but no watch has shown it yet`);
    }
  }

  /** Takes the reference to this owner off all its dependents, then its finalizer. */
  async attemptToOrphan(key: string, run: SyncRun): Promise<void> {
    const owner = this.#nodeOf(key);
    if (owner === undefined) return;
    const { identity } = owner;
    const loose = new Set<Node>();
    const left = (): readonly Node[] => [...owner.dependents].filter((one) => !loose.has(one));
    for (let dependents = left(); dependents.length > 0; dependents = left()) {
      await this.#cutLoose(identity, dependents, run);
      for (const dependent of dependents) loose.add(dependent);
    }
    await this.#deps.server.removeFinalizer(run, identity, ORPHAN_FINALIZER, {
      because: `${shortText(identity)} is deleted and leaves its ${loose.size} dependents behind`,
      stillDue: () => left().length === 0,
    });
    if (left().length > 0) throw new NotYet(`more dependents of ${shortText(identity)} appeared`);
  }

  /** Tells the graph that a live read found nothing under this identity. */
  applyAbsence(key: string): void {
    const identity = identityOfKey(key);
    if (identity !== undefined) this.#deps.graph.absent(identity);
  }

  #nodeOf(key: string): Node | undefined {
    const identity = identityOfKey(key);
    return identity && this.#deps.graph.get(identity.uid);
  }

  /** False if there is no such object (any more). */
  async #collect(node: Node, run: SyncRun): Promise<boolean> {
    const { server } = this.#deps;
    const { identity } = node;
    const read = await server.read(run, identity);
    if (read === undefined || read.uid !== identity.uid) return false;
    if (node.waitsForDependents) {
      if (this.#queueBlocking(node)) return true;
      await server.removeFinalizer(run, identity, FOREGROUND_FINALIZER, {
        read,
        because: `${shortText(identity)} waited for its dependents, and none blocks it any more`,
        stillDue: () => !this.#queueBlocking(node),
      });
      return true;
    }
    const findings = await this.#lookUp(read.ownerReferences ?? [], identity, run);
    const { dependents } = node;
    const waitingDependent = [...dependents].find((one) => one.waitsForDependents)?.identity;
    const actions = decide({
      item: identity,
      finalizers: read.finalizers ?? [],
      findings,
      dependents: dependents.size,
      waitingDependent,
    });
    for (const action of actions) {
      if (!(await this.#carryOut(action, identity, read, run))) return false;
    }
    return true;
  }

  async #lookUp(
    references: readonly OwnerReference[],
    item: Identity,
    run: SyncRun,
  ): Promise<readonly Finding[]> {
    const findings: Finding[] = [];
    for (const reference of references) {
      findings.push({ reference, state: await this.#stateOf(reference, item, run) });
    }
    return findings;
  }

  async #stateOf(
    reference: OwnerReference,
    item: Identity,
    run: SyncRun,
  ): Promise<Finding['state']> {
    const { absent, server } = this.#deps;
    if (absent.has(reference, item.namespace)) return 'dangling';
    const { namespaced } = server.resourceOf(reference);
    const owner = identityOf(reference, namespaced ? item.namespace : '');
    const state = stateOf(reference, await server.read(run, owner));
    if (state === 'dangling') absent.add(owner);
    return state;
  }

  /** False if the object turned out to be gone. */
  async #carryOut(
    action: Action,
    item: Identity,
    read: ObjectMeta,
    run: SyncRun,
  ): Promise<boolean> {
    const { server } = this.#deps;
    const { because } = action;
    if (action.do === 'delete') return await server.delete(run, item, read, action.policy, because);
    const { uid, resourceVersion, ownerReferences: owners = [] } = read;
    const referring: Referring = { uid, resourceVersion, owners };
    const patch =
      action.do === 'unblock owners'
        ? { strategic: unblockOwners(uid, owners), merged: () => unblockOwnersMerged(referring) }
        : {
            strategic: dropReferences(uid, action.owners),
            merged: () => dropReferencesMerged(referring, action.owners),
          };
    await server.patch(run, item, patch, because);
    return true;
  }

  /** Queues the dependents that hold the owner back; false if there are none. */
  #queueBlocking(owner: Node): boolean {
    let isBlocked = false;
    for (const dependent of owner.dependents) {
      if (!dependent.blocks(owner)) continue;
      isBlocked = true;
      // One that is being deleted already goes by itself, or has its own turn.
      if (!dependent.deleting) this.#deps.toDelete.add(keyOfIdentity(dependent.identity));
    }
    return isBlocked;
  }

  /** All at once, within a bound; one that is gone is fine. Throws for all failures together. */
  async #cutLoose(owner: Identity, dependents: readonly Node[], run: SyncRun): Promise<void> {
    const waiting = [...dependents];
    const failures: string[] = [];
    const worker = async (): Promise<void> => {
      for (let dependent = waiting.pop(); dependent !== undefined; dependent = waiting.pop()) {
        try {
          await this.#cutLooseOne(owner, dependent, run);
        } catch (error) {
          if (error instanceof FencedError) throw error;
          if (isNotFound(error)) continue;
          const why = error instanceof Error ? error.message : String(error);
          failures.push(`orphaning ${identityText(dependent.identity)} failed, ${why}`);
        }
      }
    };
    const workers = Math.min(ORPHANED_AT_ONCE, dependents.length);
    await Promise.all(Array.from({ length: workers }, worker));
    if (failures.length === 0) return;
    const all = [...new Set(failures)].sort();
    const text = all.length === 1 ? all.join('') : `[${all.join(', ')}]`;
    throw new Error(
      `failed to orphan dependents of owner ${identityText(owner)}, got errors: ${text}`,
    );
  }

  async #cutLooseOne(owner: Identity, dependent: Node, run: SyncRun): Promise<void> {
    const { identity, record, owners } = dependent;
    const { uid, resourceVersion } = record;
    const patch = {
      strategic: dropReferences(uid, [owner.uid]),
      merged: () => dropReferencesMerged({ uid, resourceVersion, owners }, [owner.uid]),
    };
    const because = `owner ${shortText(owner)} is deleted and orphans its dependents`;
    await this.#deps.server.patch(run, identity, patch, because);
  }
}
