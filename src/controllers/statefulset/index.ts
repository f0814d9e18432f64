/**
 * statefulset-controller: keeps the numbered pods of StatefulSets and their claims, one after the
 * other or all at once, and rolls new templates out through ControllerRevisions. Start with
 * `decide.ts`: revisions, then pods (`pods.ts`), then the status and the history.
 */
import {
  apiVersionOf,
  CONTROLLER_REVISIONS,
  PERSISTENT_VOLUME_CLAIMS,
  PODS,
  STATEFUL_SETS,
} from '../../api/resource.ts';
import { compileSelector, type Selector } from '../../api/selector.ts';
import type {
  ControllerRevision,
  PersistentVolumeClaim,
  StatefulSet,
} from '../../api/types/index.ts';
import { carryOutClaims } from '../../runtime/claim.ts';
import type {
  Controller,
  ControllerContext,
  ControllerDefinition,
  EventRecorder,
  SyncRun,
} from '../../runtime/controller.ts';
import { INTENT_EXPIRY_MS } from '../../runtime/limits.ts';
import { StaleCache } from '../../runtime/requeue.ts';
import { wholeRevisions } from '../_kit/revisions/stored.ts';
import { type ActPorts, act } from './act.ts';
import { decide, type Observed, type StatefulSetConfig } from './decide.ts';
import { memberOf } from './members.ts';
import { maxUnavailableGauges } from './metrics.ts';
import { ownerOf, podClaims, revisionClaims, type StatefulSetCaches } from './observe.ts';
import { StatefulSetTriggers } from './triggers.ts';

const NAME = 'statefulset-controller';
const WORKERS_FLAG = 'concurrent-statefulset-syncs';

/** The passport of the StatefulSet controller. */
export const statefulSetController: ControllerDefinition = {
  name: NAME,
  aliases: ['statefulset'],
  gates: [],
  enabledByDefault: true,
  account: NAME,
  watches: [STATEFUL_SETS, PODS, CONTROLLER_REVISIONS, PERSISTENT_VOLUME_CLAIMS],
  writes: [
    'pods create/update/delete/patch',
    'controllerrevisions create/patch/delete',
    'persistentvolumeclaims create/update',
    'statefulsets/status update',
    'events create/patch',
  ],
  flags: [WORKERS_FLAG],
  build,
};

/** Events about pods are worded by this controller itself. */
const SILENT: EventRecorder = { event: () => {} };

interface Parts {
  readonly context: ControllerContext;
  readonly caches: StatefulSetCaches;
  readonly ports: ActPorts;
  readonly config: StatefulSetConfig;
}

function build(context: ControllerContext): Controller {
  const sets = context.informers.of<StatefulSet>(STATEFUL_SETS);
  const pods = context.informers.pods();
  const caches: StatefulSetCaches = {
    sets: sets.lister,
    pods: pods.lister,
    revisions: context.informers.of<ControllerRevision>(CONTROLLER_REVISIONS).lister,
    claims: context.informers.of<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS).lister,
  };
  const guard = context.gate('StaleControllerConsistencyStatefulSet');
  const maxUnavailable = context.gate('MaxUnavailableStatefulSet');
  const semanticRevisions = context.gate('StatefulSetSemanticRevisionComparison');
  const ports: ActPorts = {
    ...caches,
    podControl: context.podControl(SILENT, { guard }),
    events: context.events(NAME),
    guard,
    ...(maxUnavailable ? { gauges: maxUnavailableGauges(context.metrics) } : {}),
  };
  const queue = context.queue('statefulset');
  const triggers = new StatefulSetTriggers(sets.lister, queue);
  sets.addHandler(triggers.sets());
  pods.addHandler(triggers.pods());
  const parts = { context, caches, ports, config: { maxUnavailable, semanticRevisions } };
  return {
    queues: [
      {
        queue,
        workers: Number(context.flags[WORKERS_FLAG]),
        reconcile: (key, run) => reconcile(parts, key, run),
      },
    ],
  };
}

async function reconcile(parts: Parts, key: string, run: SyncRun): Promise<void> {
  const { caches, context, ports, config } = parts;
  const uid = caches.sets.record(key)?.uid;
  // Without the set this forgets what was written for it.
  if (ports.guard && !context.caughtUp(key, uid ?? '')) {
    throw new StaleCache(`the caches have not reached the last write made for ${key}`);
  }
  const cached = uid === undefined ? undefined : caches.sets.get(key);
  if (cached === undefined) return;
  const set = { ...cached, apiVersion: apiVersionOf(STATEFUL_SETS), kind: STATEFUL_SETS.kind };
  const { selector, problem } = compileSelector(set.spec?.selector);
  if (selector === undefined) {
    context.log.error('The pod selector is invalid: nothing is done', problem, { key });
    run.note(`spec.selector: ${problem}`);
    return;
  }
  const observed = await observe(parts, run, set, selector);
  await act(ports, run, set, decide(observed, run.now, config));
}

/** Adopts and releases, and gives what the set has then. */
async function observe(
  { caches, ports }: Parts,
  run: SyncRun,
  set: StatefulSet,
  selector: Selector,
): Promise<Observed> {
  const pass = { owner: ownerOf(set), ownerResource: STATEFUL_SETS, selectorText: selector.text };
  const revisions = await carryOutClaims(
    run,
    { ...pass, resource: CONTROLLER_REVISIONS, guard: false },
    revisionClaims(caches, set, selector),
  );
  const records = await carryOutClaims(
    run,
    { ...pass, resource: PODS, guard: ports.guard },
    podClaims(caches, set, selector),
  );
  const going = ports.podControl.deleting(set.metadata.uid);
  if (going.size > 0) {
    const because = `${going.size} announced deletions may turn out not to have happened`;
    run.again(INTENT_EXPIRY_MS, because);
  }
  const pods = records.map((record) => memberOf(record, going.has(record.uid)));
  return { set, pods, revisions: wholeRevisions(caches.revisions, revisions) };
}
