/**
 * garbage-collector-controller: deletes objects whose owners are gone, lets owners go after their
 * dependents (foreground), or cuts dependents loose first (orphan). `graph.ts` says who deserves a
 * look, `decide.ts` what becomes of him, `collector.ts` carries it out.
 */
import type {
  Controller,
  ControllerContext,
  ControllerDefinition,
} from '../../runtime/controller.ts';
import { AbsentOwners } from './absent.ts';
import { Collector } from './collector.ts';
import { graphText } from './dot.ts';
import { wrongNamespace } from './events.ts';
import { Graph } from './graph.ts';
import { keyOfIdentity } from './identity.ts';
import { syncErrors } from './metrics.ts';
import { isCollected, Monitors } from './monitors.ts';
import type { Node } from './node.ts';
import { Server } from './server.ts';

const NAME = 'garbage-collector-controller';
const ENABLED_FLAG = 'enable-garbage-collector';
const WORKERS_FLAG = 'concurrent-gc-syncs';
const GRAPH_PATH = /\/graph$/;
const GRAPHVIZ = 'text/vnd.graphviz';

/** The passport of the garbage collector. */
export const garbageCollectorController: ControllerDefinition = {
  name: NAME,
  aliases: ['garbagecollector'],
  gates: [],
  enabledByDefault: true,
  account: 'generic-garbage-collector',
  // A deletion takes two requests: one to look, one to delete.
  limits: { qps: 2, burst: 1 },
  watches: [],
  follows: (flags) =>
    flags[ENABLED_FLAG] === false
      ? undefined
      : { ties: true, wants: (resource) => (isCollected(resource) ? 'metadata' : undefined) },
  writes: ['all resources delete/patch', 'events'],
  flags: [ENABLED_FLAG, WORKERS_FLAG],
  build,
};

function build(context: ControllerContext): Controller | undefined {
  const { flags, informers, clock, log } = context;
  if (flags[ENABLED_FLAG] === false) return undefined;
  const toDelete = context.queue('garbage_collector_attempt_to_delete');
  const toOrphan = context.queue('garbage_collector_attempt_to_orphan');
  const graphChanges = context.queue('garbage_collector_graph_changes');
  const events = context.events(NAME);
  const absent = new AbsentOwners();
  /** Owners to be looked for once the caches are complete: most of them turn up until then. */
  let unseen: Set<Node> | undefined = new Set();
  const graph = new Graph({
    tryDelete(node) {
      if (node.virtual && unseen !== undefined) unseen.add(node);
      else toDelete.add(keyOfIdentity(node.identity));
    },
    tryDeleteLater: (node) => toDelete.addRateLimited(keyOfIdentity(node.identity)),
    tryOrphan: (node) => toOrphan.add(keyOfIdentity(node.identity)),
    absent: (owner) => absent.add(owner),
    wrongNamespace: (dependent, ownerUid) => wrongNamespace(events, dependent, ownerUid),
  });
  const monitors = new Monitors({
    followed: informers.followed,
    graph,
    clock,
    log,
    failed: syncErrors(context.metrics),
  });
  const server = new Server(informers.followed, clock);
  const collector = new Collector({ graph, server, absent, toDelete, graphChanges });
  const workers = Number(flags[WORKERS_FLAG]);
  monitors.begin();
  return {
    async start(signal) {
      await monitors.complete(signal);
      const stillUnseen = [...(unseen ?? [])].filter((node) => node.virtual);
      unseen = undefined;
      for (const { identity } of stillUnseen) toDelete.add(keyOfIdentity(identity));
    },
    queues: [
      {
        queue: toDelete,
        workers,
        announcesNothing: true,
        reconcile: (key, run) => collector.attemptToDelete(key, run),
      },
      {
        queue: toOrphan,
        workers,
        announcesNothing: true,
        reconcile: (key, run) => collector.attemptToOrphan(key, run),
      },
      { queue: graphChanges, workers: 1, reconcile: async (key) => collector.applyAbsence(key) },
    ],
    debug(path, query) {
      if (!GRAPH_PATH.test(path)) return undefined;
      return { text: graphText(graph, query.getAll('uid')), contentType: GRAPHVIZ };
    },
  };
}
