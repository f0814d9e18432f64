import { describe, expect, test } from 'bun:test';
import { ApiError } from '../../api/errors.ts';
import { NODES, PODS } from '../../api/resource.ts';
import type { Node, Pod } from '../../api/types/index.ts';
import { fakeContext } from '../_kit/testing/fake-context.ts';
import { FakeRun, refusal } from '../_kit/testing/fake-run.ts';
import { CREATED_AT, type PodFacts, podOf, podRecordOf } from '../_kit/testing/objects.ts';
import { beyondThreshold, hasEnded, missingNodes, neverScheduled, onLostNodes } from './decide.ts';
import { podGarbageCollectorController } from './index.ts';
import { failedStatus } from './remove.ts';

const NOW = Date.parse('2026-05-20T12:00:00Z');
const names = (victims: readonly { readonly pod: { readonly name: string } }[]) =>
  victims.map(({ pod }) => pod.name);

interface NodeFacts {
  readonly ready?: string;
  readonly taint?: string;
}

function nodeOf(name: string, { ready = 'True', taint }: NodeFacts = {}): Node {
  return {
    metadata: { name, uid: `uid-${name}`, resourceVersion: '1' },
    spec: { taints: taint === undefined ? [] : [{ key: taint, effect: 'NoExecute' }] },
    status: { conditions: [{ type: 'Ready', status: ready }] },
  };
}

describe('ended pods beyond the threshold', () => {
  const ended = (name: string, age = 0, phase = 'Succeeded') =>
    podRecordOf({ name, phase, createdAt: CREATED_AT - age * 1_000 });

  test.each([
    ['Pending', false],
    ['Running', false],
    ['Unknown', false],
    ['Succeeded', true],
    ['Failed', true],
  ])('%s has ended: %p', (phase, expected) => {
    expect(hasEnded(podRecordOf({ phase }))).toBe(expected);
  });

  test('go: the evicted first, then the oldest, then by name', () => {
    const pods = [ended('b', 5), ended('a', 5), ended('old', 9), ended('new'), ended('evicted')];
    const isEvicted = ({ name }: { name: string }) => name === 'evicted';
    expect(names(beyondThreshold(pods, 1, isEvicted))).toEqual(['evicted', 'old', 'a', 'b']);
    expect(names(beyondThreshold(pods, 3, isEvicted))).toEqual(['evicted', 'old']);
    expect(beyondThreshold(pods, 3, isEvicted)[0]?.because).toBe(
      '5 pods have ended, 3 may be kept',
    );
  });

  test('stay when there are not too many, or nobody counts', () => {
    const pods = [ended('a'), ended('b')];
    for (const threshold of [2, 3, 0, -1]) {
      expect(beyondThreshold(pods, threshold, () => false)).toEqual([]);
    }
  });
});

describe('pods that are being deleted', () => {
  const going = (name: string, node: string) => podRecordOf({ name, node, deletedAt: NOW });
  const lost = { ready: 'Unknown', taint: 'node.kubernetes.io/out-of-service' };

  test.each([
    ['on a lost node that is out of service', lost, true],
    ['not on one that is ready', { ...lost, ready: 'True' }, false],
    ['not on one that is only not ready', { ready: 'False' }, false],
    ['not for another taint', { ...lost, taint: 'node.kubernetes.io/unreachable' }, false],
  ] as const)('go %s', (_, facts, expected) => {
    const victims = onLostNodes([going('p', 'n')], () => nodeOf('n', facts));
    expect(victims).toHaveLength(expected ? 1 : 0);
  });

  test('nobody else goes, and nobody from a node that is not known', () => {
    const pods = [podRecordOf({ name: 'stays', node: 'n' }), going('elsewhere', 'gone')];
    expect(onLostNodes(pods, (name) => (name === 'n' ? nodeOf('n', lost) : undefined))).toEqual([]);
  });

  test('go when they never came to a node', () => {
    const pods = [going('unscheduled', ''), going('bound', 'n'), podRecordOf({ node: '' })];
    expect(names(neverScheduled(pods))).toEqual(['unscheduled']);
  });

  test('nodes are missing when pods name them and nobody knows them', () => {
    const pods = ['a', 'b', 'b', ''].map((node, index) => podRecordOf({ name: `p${index}`, node }));
    expect([...missingNodes(pods, (name) => name === 'a')]).toEqual(['b']);
  });
});

describe('the status of a pod that is removed', () => {
  const pod = (conditions: object[] = []): Pod => {
    const plain = podOf({ phase: 'Running' });
    const metadata = { ...plain.metadata, generation: 3 };
    return { ...plain, metadata, status: { ...plain.status, conditions } } as Pod;
  };

  test('is Failed, for this UID only', () => {
    expect(failedStatus(pod(), false, NOW)).toEqual({
      metadata: { uid: 'uid-web-1' },
      status: { phase: 'Failed', observedGeneration: 3 },
    });
  });

  test('of an orphan also says what disrupted it, and since when', () => {
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByPodGC',
      message: 'PodGC: node no longer exists',
      observedGeneration: 3,
    };
    expect(failedStatus(pod(), true, NOW)).toMatchObject({
      status: { conditions: [{ ...condition, lastTransitionTime: '2026-05-20T12:00:00Z' }] },
    });
    expect(failedStatus(pod([{ type: 'Ready' }]), true, NOW)).toMatchObject({
      status: { '$setElementOrder/conditions': [{ type: 'Ready' }, { type: 'DisruptionTarget' }] },
    });
    const since = '2026-05-20T11:00:00Z';
    const before = [{ type: 'DisruptionTarget', status: 'True', lastTransitionTime: since }];
    expect(failedStatus(pod(before), true, NOW)).toMatchObject({
      status: { conditions: [{ ...condition, lastTransitionTime: since }] },
    });
  });
});

function setUp(threshold = 12_500, fakes = fakeContext({ now: NOW })) {
  const flags = { 'terminated-pod-gc-threshold': threshold };
  const controller = podGarbageCollectorController.build({ ...fakes.context, flags })!;
  const [rounds, vanished] = controller.queues;
  const pods = fakes.informers.pods();
  const nodes = fakes.informers.of<Node>(NODES);
  const put = (facts: PodFacts) => pods.put(podOf(facts));
  const round = async (prepare: (run: FakeRun) => void = () => undefined) => {
    const run = new FakeRun(fakes.clock.now());
    prepare(run);
    await rounds!.reconcile('all pods', run);
    return run;
  };
  const orphans = async (node: string, ...live: Node[]) => {
    const run = new FakeRun(fakes.clock.now());
    run.live(NODES, ...live);
    await vanished!.reconcile(node, run);
    return run;
  };
  const waiting = () => fakes.queues.get('orphaned_pods_nodes')!.later.splice(0);
  const count = async (name: string) => {
    const metric = fakes.context.metrics.registry.getSingleMetric(name)!;
    return (await metric.get()).values.map(({ labels, value }) => [labels.reason, value]);
  };
  return { ...fakes, controller, pods, nodes, put, round, orphans, waiting, count };
}

/** The answer to a patch that names another UID than the stored object has. */
function otherUid(): ApiError {
  const causes = [{ reason: 'FieldValueInvalid', field: 'metadata.uid' }];
  return new ApiError(422, 'immutable', { reason: 'Invalid', details: { causes } });
}

const calls = (run: FakeRun) =>
  run.writes.map(({ verb, resource, key }) => [verb, resource, key].join(' '));

describe('a round', () => {
  test('comes every 20 s', async () => {
    const { controller, queues, round } = setUp();
    await controller.start?.(new AbortController().signal);
    expect(queues.get('podgc')!.drain()).toEqual(['all pods']);
    expect((await round()).wishes).toMatchObject([{ delayMs: 20_000 }]);
  });

  test('deletes ended pods beyond the threshold without touching their status', async () => {
    const { put, round, nodes, count, pods } = setUp(1);
    nodes.put(nodeOf('node-1'));
    put({ name: 'a', phase: 'Succeeded', createdAt: CREATED_AT - 9_000 });
    put({ name: 'b', phase: 'Failed' });
    const evicted = podOf({ name: 'evicted', phase: 'Failed' });
    pods.put({ ...evicted, status: { ...evicted.status, reason: 'Evicted' } });
    put({ name: 'runs' });
    const run = await round();
    expect(calls(run)).toEqual(['delete pods default/evicted', 'delete pods default/a']);
    expect(run.writes[0]).toMatchObject({ uid: 'uid-evicted' });
    expect(await count('pod_gc_collector_force_delete_pods_total')).toEqual([['terminated', 2]]);
  });

  test('marks pods that did not end before they go', async () => {
    const { put, round, nodes } = setUp();
    nodes.put(nodeOf('node-1', { ready: 'False', taint: 'node.kubernetes.io/out-of-service' }));
    put({ name: 'stuck', deletedAt: NOW });
    put({ name: 'nowhere', deletedAt: NOW, node: '', phase: 'Pending' });
    const run = await round();
    expect(calls(run)).toEqual([
      'patch pods/status default/stuck',
      'delete pods default/stuck',
      'patch pods/status default/nowhere',
      'delete pods default/nowhere',
    ]);
    expect(run.writes[0]?.because).toContain('node-1 is out of service');
  });

  test('leaves a pod whose status it could not mark, and goes on with the others', async () => {
    const { put, round, count } = setUp();
    put({ name: 'a', deletedAt: NOW, node: '', phase: 'Pending' });
    put({ name: 'b', deletedAt: NOW, node: '', phase: 'Pending' });
    const run = await round((one) => one.failNext('patch', refusal(500, 'InternalError')));
    expect(calls(run)).toContain('delete pods default/b');
    expect(calls(run)).not.toContain('delete pods default/a');
    expect(await count('pod_gc_collector_force_delete_pods_total')).toEqual([['unscheduled', 2]]);
    expect(await count('pod_gc_collector_force_delete_pod_errors_total')).toEqual([
      ['unscheduled', 1],
    ]);
  });

  test('deletes a running pod though the disk lost it', async () => {
    const { put, round, pods } = setUp();
    put({ name: 'a', deletedAt: NOW, node: '' });
    pods.lose(podOf({ name: 'a' }));
    const run = await round((one) => one.live(PODS, podOf({ name: 'a' })));
    expect(calls(run)).toEqual(['patch pods/status default/a', 'delete pods default/a']);
  });

  test('goes through all, though the disk lost pods and nodes', async () => {
    const { put, round, pods, nodes } = setUp(1);
    const node = nodeOf('n', { ready: 'False', taint: 'node.kubernetes.io/out-of-service' });
    nodes.put(node);
    const ended = ['a', 'b', 'c'].map((name) => podOf({ name, phase: 'Failed', node: 'n' }));
    for (const pod of ended) pods.put(pod);
    put({ name: 'stuck', deletedAt: NOW, node: 'n', phase: 'Succeeded' });
    for (const object of ended) pods.lose(object);
    nodes.lose(node);
    // The first is gone by now.
    const [, ...there] = ended.map((pod) =>
      pod.metadata.name === 'c' ? { ...pod, status: { ...pod.status, reason: 'Evicted' } } : pod,
    );
    const run = await round((one) => {
      one.live(PODS, ...there);
      one.live(NODES, node);
    });
    expect(calls(run)).toEqual([
      'delete pods default/c',
      'delete pods default/a',
      'delete pods default/b',
      'delete pods default/stuck',
    ]);
  });

  test.each([
    ['that is gone already', 'delete', refusal(404, 'NotFound')],
    ['whose name another pod has now', 'delete', refusal(409, 'Conflict')],
    ['whose status is that of another pod now', 'patch', otherUid()],
  ] as const)('does not count a pod %s as an error', async (_, verb, answer) => {
    const { put, round, count, errors } = setUp();
    put({ name: 'a', deletedAt: NOW, node: '', phase: verb === 'patch' ? 'Pending' : 'Failed' });
    const run = await round((one) => one.failNext(verb, answer));
    expect(calls(run)).toHaveLength(1);
    expect(await count('pod_gc_collector_force_delete_pod_errors_total')).toEqual([]);
    expect(errors).toEqual([]);
  });
});

describe('a node that vanished', () => {
  test('is waited for 40 s, then looked for, then its pods go', async () => {
    const { put, round, orphans, waiting, clock, count } = setUp();
    put({ name: 'a', node: 'gone' });
    put({ name: 'done', node: 'gone', phase: 'Succeeded' });
    await round();
    expect(waiting()).toMatchObject([{ key: 'gone', delayMs: 40_000 }]);
    await clock.advance(20_000);
    await round();
    expect(waiting()).toMatchObject([{ key: 'gone', delayMs: 20_000 }]);
    const early = await orphans('gone');
    expect(early.writes).toEqual([]);
    expect(early.wishes).toMatchObject([{ delayMs: 20_000 }]);
    await clock.advance(20_000);
    const run = await orphans('gone');
    expect(run.reads).toEqual(['nodes gone']);
    expect([...calls(run)].sort()).toEqual([
      'delete pods default/a',
      'delete pods default/done',
      'patch pods/status default/a',
    ]);
    expect(run.writes.find(({ verb }) => verb === 'patch')?.body).toMatchObject({
      status: { phase: 'Failed', conditions: [{ reason: 'DeletionByPodGC' }] },
    });
    expect(await count('pod_gc_collector_force_delete_pods_total')).toEqual([['orphaned', 2]]);
  });

  test('keeps its pods if the server has it, and waits anew should it be missing again', async () => {
    const { put, round, orphans, waiting, clock } = setUp();
    put({ name: 'a', node: 'gone' });
    await round();
    waiting();
    await clock.advance(40_000);
    expect((await orphans('gone', nodeOf('gone'))).writes).toEqual([]);
    await round();
    expect(waiting()).toMatchObject([{ key: 'gone', delayMs: 40_000 }]);
  });

  test('is not waited for any more once it is back, or has no pods', async () => {
    const { put, round, orphans, waiting, nodes, clock, pods, memory } = setUp();
    put({ name: 'a', node: 'gone' });
    await round();
    waiting();
    nodes.put(nodeOf('gone'));
    await clock.advance(40_000);
    const run = await orphans('gone');
    expect([...run.reads, ...run.writes]).toEqual([]);
    nodes.remove(nodeOf('gone'));
    await round();
    expect(waiting()).toMatchObject([{ delayMs: 40_000 }]);
    pods.remove(podOf({ name: 'a', node: 'gone' }));
    await round();
    expect(memory.all()).toEqual([]);
  });

  test('is written down when it is missed first, not again because time passes', async () => {
    const { put, round, clock, memory } = setUp();
    put({ name: 'a', node: 'gone' });
    await round();
    const rows = memory.all();
    expect(rows).toHaveLength(1);
    await clock.advance(20_000);
    await round();
    expect(memory.all()).toEqual(rows);
  });

  test('goes on waiting where the process before stopped', async () => {
    const first = setUp();
    first.put({ name: 'a', node: 'gone' });
    await first.round();
    await first.clock.advance(30_000);
    await first.round();
    first.waiting();
    const second = setUp(12_500, first);
    await second.round();
    expect(second.waiting()).toMatchObject([{ key: 'gone', delayMs: 10_000 }]);
  });
});
