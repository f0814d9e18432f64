/** A process to show: busy, with failing keys, a watch in trouble, a journal. */
import type { ReflectorStatus } from '../../runtime/informer/reflector-types.ts';
import type { FailingView, Overview, QueueView, SyncView } from '../../runtime/overview.ts';
import type { Told } from '../../runtime/told.ts';

/** Wall time of the shown process. */
export const SHOWN_AT = Date.parse('2026-03-01T12:00:00Z');

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** A queue at rest, changed as told. */
export function queueView(
  controller: string,
  id: string,
  changes: Partial<QueueView> = {},
): QueueView {
  const still = { depth: 0, oldestMs: 0, processing: 0, longestMs: 0, delayed: 0, failing: 0 };
  const rates = { syncsLastMinute: 0, failuresLastMinute: 0 };
  return { controller, name: id, id, ...still, ...rates, ...changes };
}

/** A watch that is current, changed as told. */
export function watchView(
  resource: string,
  changes: Partial<ReflectorStatus> = {},
): ReflectorStatus {
  return {
    resource,
    resourceVersion: '184213',
    objects: 12,
    how: 'resumed',
    synced: true,
    caughtUp: true,
    lastEventAt: SHOWN_AT - 31 * SECOND,
    lists: 0,
    watches: 3,
    problem: '',
    ...changes,
  };
}

/** A failing key, changed as told. */
export function failingView(key: string, changes: Partial<FailingView> = {}): FailingView {
  return {
    key,
    controller: 'deployment-controller',
    queue: 'deployment',
    failures: 3,
    dueAt: SHOWN_AT + 20 * SECOND,
    error: 'exceeded quota: pods, requested: 1, used: 10, limited: 10',
    object: { resource: 'deployments.apps', key },
    ...changes,
  };
}

/** A reconcile, changed as told. */
export function syncView(key: string, changes: Partial<SyncView> = {}): SyncView {
  return {
    controller: 'replicaset-controller',
    key,
    startedAt: SHOWN_AT - 40 * SECOND,
    durationMs: 18.4,
    outcome: 'ok',
    error: '',
    because: '',
    writes: [],
    object: { resource: 'replicasets.apps', key },
    ...changes,
  };
}

function write(verb: string, resource: string, name: string, because: string, outcome = 'ok') {
  return { verb, resource, namespace: 'shop', name, because, outcome };
}

function journal(): SyncView[] {
  const web = { controller: 'deployment-controller', durationMs: 9.1 } as const;
  const scaled = 'the new ReplicaSet may grow from 2 to 3: 1 of 5 may be surplus';
  return [
    syncView('shop/checkout-6d5f9c7b8', {
      startedAt: SHOWN_AT - 4 * SECOND,
      because: '5 pods wanted, 3 there',
      writes: [
        write('create', 'pods', 'checkout-6d5f9c7b8-x2vqk', '2 of 5 pods are missing'),
        write('create', 'pods', 'checkout-6d5f9c7b8-9fkzt', '2 of 5 pods are missing'),
      ],
    }),
    syncView('shop/checkout', {
      ...web,
      startedAt: SHOWN_AT - 5 * SECOND,
      writes: [write('patch', 'replicasets.apps', 'checkout-6d5f9c7b8', scaled)],
      object: { resource: 'deployments.apps', key: 'shop/checkout' },
    }),
    syncView('batch/nightly-report', {
      controller: 'job-controller',
      startedAt: SHOWN_AT - 48 * SECOND,
      durationMs: 1_204,
      outcome: 'error',
      error: 'pods "nightly-report-" is forbidden: exceeded quota: compute, requested: cpu=2',
      object: { resource: 'jobs.batch', key: 'batch/nightly-report' },
    }),
    syncView('worker-3', {
      controller: 'node-lifecycle-controller',
      startedAt: SHOWN_AT - 3 * MINUTE,
      writes: [
        {
          verb: 'patch',
          resource: 'nodes',
          namespace: '',
          name: 'worker-3',
          because: 'its kubelet has been silent for 40s: taint unreachable',
          outcome: 'ok',
        },
      ],
      object: { resource: 'nodes', key: 'worker-3' },
    }),
  ];
}

function queues(): QueueView[] {
  return [
    queueView('deployment-controller', 'deployment', { syncsLastMinute: 14, failing: 1 }),
    queueView('replicaset-controller', 'replicaset', {
      depth: 3,
      oldestMs: 420,
      processing: 2,
      syncsLastMinute: 61,
    }),
    queueView('job-controller', 'job', { failing: 1, failuresLastMinute: 2, syncsLastMinute: 6 }),
    queueView('job-controller', 'job_orphan_pod'),
    queueView('statefulset-controller', 'statefulset', { syncsLastMinute: 2 }),
    queueView('daemonset-controller', 'daemonset', { syncsLastMinute: 4 }),
    queueView('cronjob-controller', 'cronjob', { delayed: 6, syncsLastMinute: 1 }),
    queueView('endpointslice-controller', 'endpoint_slice', { syncsLastMinute: 22 }),
    queueView('garbage-collector-controller', 'garbage_collector_attempt_to_delete', {
      depth: 11,
      oldestMs: 2_300,
      processing: 4,
      syncsLastMinute: 118,
    }),
    queueView('node-lifecycle-controller', 'node_lifecycle_controller', { syncsLastMinute: 12 }),
  ];
}

function watches(): ReflectorStatus[] {
  return [
    watchView('pods', { objects: 1_240, lastEventAt: SHOWN_AT - 400, resourceVersion: '184377' }),
    watchView('replicasets.apps', { objects: 310, lastEventAt: SHOWN_AT - 2 * SECOND }),
    watchView('deployments.apps', { objects: 96 }),
    watchView('nodes', { objects: 12, lastEventAt: SHOWN_AT - 6 * SECOND }),
    watchView('services', { objects: 120 }),
    watchView('jobs.batch', { objects: 44, how: 'delta', lists: 1 }),
    watchView('secrets', { objects: 210 }),
    watchView('namespaces', { objects: 9 }),
    watchView('widgets.example.com', {
      objects: 7,
      how: 'listed',
      lists: 2,
      caughtUp: false,
      lastEventAt: SHOWN_AT - 11 * MINUTE,
      problem: 'the server is currently unable to handle the request (503)',
    }),
  ];
}

/** The page's data of a leader with work to do, changed as told. */
export function sampleOverview(changes: Partial<Overview> = {}): Overview {
  const identity = 'edge-7_2b0c1f0e-7a0d-4d7e-9a53-0d1c8a1f5c11';
  const failing = [
    failingView('shop/search', { failures: 9, dueAt: SHOWN_AT + 95 * SECOND }),
    failingView('batch/nightly-report', {
      controller: 'job-controller',
      queue: 'job',
      failures: 2,
      error: 'pods "nightly-report-" is forbidden: exceeded quota: compute, requested: cpu=2',
      object: { resource: 'jobs.batch', key: 'batch/nightly-report' },
    }),
  ];
  const shown = watches();
  return {
    now: SHOWN_AT,
    startedAt: SHOWN_AT - 76 * HOUR,
    version: '0.1.0',
    lease: {
      identity,
      state: 'leading',
      lease: 'kube-system/kube-controller-manager',
      holder: identity,
      holderSince: SHOWN_AT - 75 * HOUR,
      since: SHOWN_AT - 75 * HOUR,
      term: 4,
      how: 'instant',
      renewedAgoMs: 1_100,
    },
    queues: queues(),
    failing: { rows: failing, total: failing.length },
    watches: { rows: shown, total: shown.length },
    store: {
      problem: '',
      opened: 'resumed',
      databaseBytes: 11_862_016,
      walBytes: 1_204_000,
      pendingRows: 4,
      pendingBytes: 2_100,
      commits: 91_230,
      commitErrors: 0,
      bytesWritten: 412_000_000,
      bytesLastHour: 1_930_000,
      commitsLastHour: 1_120,
      tornResources: [],
    },
    journal: journal(),
    journalProblem: '',
    ...changes,
  };
}

/** An object told about, changed as told. */
export function sampleTold(changes: Partial<Told> = {}): Told {
  return {
    title: 'Deployment shop/search',
    verdict: 'failing',
    sentences: [
      'deployment-controller has failed on it 9 times in a row, last with: exceeded quota. ' +
        'It is tried again in 1m35s (at 2026-03-01T12:01:35Z).',
      'It wants 5 replicas: 3 there, 3 up to date, 3 ready.',
    ],
    relatives: [
      {
        relation: 'child',
        kind: 'ReplicaSet',
        resource: 'replicasets.apps',
        key: 'shop/search-7c9d',
      },
    ],
    evidence: [
      { title: 'Work', lines: ['queue deployment of deployment-controller: due in 1m35s'] },
      { title: 'Memory', lines: [] },
    ],
    ...changes,
  };
}
