/**
 * daemonset-controller: keeps one pod of a DaemonSet on every node that it fits, and rolls new
 * templates out node by node. Start with `decide.ts`: revisions, then the pods of each node
 * (`manage.ts`), then the update (`rolling.ts`), then the status.
 */
import {
  apiVersionOf,
  CONTROLLER_REVISIONS,
  DAEMON_SETS,
  NODES,
  PODS,
} from '../../api/resource.ts';
import { compileSelector, type Selector } from '../../api/selector.ts';
import type { ControllerRevision, DaemonSet, Node } from '../../api/types/index.ts';
import { carryOutClaims } from '../../runtime/claim.ts';
import type {
  Controller,
  ControllerContext,
  ControllerDefinition,
  SyncRun,
} from '../../runtime/controller.ts';
import { INTENT_EXPIRY_MS } from '../../runtime/limits.ts';
import { StaleCache } from '../../runtime/requeue.ts';
import { wholeRevisions } from '../_kit/revisions/stored.ts';
import { type ActPorts, act } from './act.ts';
import { decide, type Observed, refuseSelector, selectsEverything } from './decide.ts';
import { FailedPods } from './memory.ts';
import { concernedSets } from './node-updates.ts';
import { NodeBook } from './nodes.ts';
import { claimsOf, type DaemonSetCaches, ownerOf, PlacementRules, TargetNodes } from './observe.ts';
import { DaemonSetTriggers } from './triggers.ts';

const NAME = 'daemonset-controller';
const WORKERS_FLAG = 'concurrent-daemonset-syncs';

/** The passport of the DaemonSet controller. */
export const daemonSetController: ControllerDefinition = {
  name: NAME,
  aliases: ['daemonset'],
  gates: [],
  enabledByDefault: true,
  account: 'daemon-set-controller',
  watches: [DAEMON_SETS, CONTROLLER_REVISIONS, PODS, NODES],
  writes: [
    'pods create/delete/patch',
    'controllerrevisions create/patch/delete',
    'daemonsets/status update',
    'events create/patch',
  ],
  flags: [WORKERS_FLAG],
  build,
};

interface Parts {
  readonly context: ControllerContext;
  readonly caches: DaemonSetCaches;
  readonly ports: ActPorts;
  readonly rules: PlacementRules;
}

function build(context: ControllerContext): Controller {
  const { informers } = context;
  const sets = informers.of<DaemonSet>(DAEMON_SETS);
  const revisions = informers.of<ControllerRevision>(CONTROLLER_REVISIONS);
  const pods = informers.pods();
  const nodes = informers.of<Node>(NODES);
  const book = new NodeBook(nodes.lister);
  const caches: DaemonSetCaches = {
    sets: sets.lister,
    pods: pods.lister,
    revisions: revisions.lister,
    nodes: book,
  };
  const parts = partsOf(context, caches);
  const queue = context.queue('daemonset');
  const nodeQueue = context.queue('daemonset-node-updates');
  const { expectations } = parts.ports;
  const triggers = new DaemonSetTriggers({ sets: sets.lister, queue, expectations });
  nodes.addHandler(book.handler((name) => nodeQueue.add(name)));
  sets.addHandler(triggers.sets());
  revisions.addHandler(triggers.revisions());
  pods.addHandler(triggers.pods());
  const workers = Number(context.flags[WORKERS_FLAG]);
  const ruleOf = (set: DaemonSet) => parts.rules.of(set);
  return {
    queues: [
      { queue, workers, reconcile: (key, run) => reconcile(parts, key, run) },
      {
        queue: nodeQueue,
        workers,
        reconcile: async (name) => {
          for (const key of concernedSets(caches, ruleOf, name)) queue.add(key);
        },
      },
    ],
  };
}

function partsOf(context: ControllerContext, caches: DaemonSetCaches): Parts {
  const guard = context.gate('StaleControllerConsistencyDaemonSet');
  const comparison = context.gate('TaintTolerationComparisonOperators');
  const events = context.events(NAME);
  const ports: ActPorts = {
    caches,
    targets: new TargetNodes(caches.pods),
    podControl: context.podControl(events, { guard }),
    expectations: context.expectations(),
    events,
    failedPods: new FailedPods(context),
    guard,
  };
  return { context, caches, ports, rules: new PlacementRules({ comparison }) };
}

async function reconcile(parts: Parts, key: string, run: SyncRun): Promise<void> {
  const { caches, context, ports } = parts;
  const uid = caches.sets.record(key)?.uid;
  if (uid !== undefined && ports.guard && !context.caughtUp(key, uid)) {
    throw new StaleCache(`the caches have not reached the last write made for ${key}`);
  }
  const cached = uid === undefined ? undefined : caches.sets.get(key);
  if (cached === undefined) {
    ports.expectations.forget(key);
    return;
  }
  const set = { ...cached, apiVersion: apiVersionOf(DAEMON_SETS), kind: DAEMON_SETS.kind };
  const { selector, problem } = compileSelector(set.spec?.selector);
  if (selectsEverything(set) && selector !== undefined) {
    await act(ports, run, set, selector, refuseSelector());
    return;
  }
  if (set.metadata.deletionTimestamp !== undefined) return;
  if (selector === undefined) {
    throw new Error(`DaemonSet ${key} has invalid label selector: ${problem}`);
  }
  await act(ports, run, set, selector, decide(await observe(parts, run, cached, set, selector)));
}

/** Claims the revisions, and gives what the decision starts from. */
async function observe(
  { caches, ports, rules }: Parts,
  run: SyncRun,
  cached: DaemonSet,
  set: DaemonSet,
  selector: Selector,
): Promise<Observed> {
  const pass = {
    owner: ownerOf(set),
    ownerResource: DAEMON_SETS,
    resource: CONTROLLER_REVISIONS,
    selectorText: selector.text,
    guard: false,
  };
  const owned = await carryOutClaims(run, pass, claimsOf(caches.revisions, set, selector));
  const going = ports.podControl.deleting(set.metadata.uid);
  if (going.size > 0) {
    const because = `${going.size} announced deletions may turn out not to have happened`;
    run.again(INTENT_EXPIRY_MS, because);
  }
  const nodes = caches.nodes.all();
  const rule = rules.of(cached);
  return {
    set,
    nodes,
    placements: new Map(nodes.map((node) => [node.name, rule(node)])),
    now: run.now,
    failedOn: (node) => ports.failedPods.of(set, node),
    revisions: wholeRevisions(caches.revisions, owned),
  };
}
