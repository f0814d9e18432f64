import { describe, expect, test } from 'bun:test';
import { FencedError, TransportError } from '../../api/errors.ts';
import { NAMESPACES, PODS } from '../../api/resource.ts';
import { timeText } from '../../api/time.ts';
import type { Namespace } from '../../api/types/index.ts';
import type { DiscoveryResult, ServedResource } from '../../runtime/controller.ts';
import { fakeContext } from '../_kit/testing/fake-context.ts';
import { refusal } from '../_kit/testing/fake-run.ts';
import { namespaceController } from './index.ts';
import { EmptyingRun, kindOf } from './testing/emptying-run.ts';

const NOW = Date.parse('2026-05-20T12:00:00Z');
const MINUTE_MS = 60_000;
const POD_KIND: ServedResource = { ...PODS, verbs: ['list', 'delete', 'deletecollection'] };
const MAPS = kindOf('configmaps');
const WIDGETS = kindOf('widgets', 'example.com');

function setUp(
  run: EmptyingRun,
  kinds: readonly ServedResource[] = [MAPS, POD_KIND, WIDGETS],
  failed: ReadonlyMap<string, string> = new Map(),
) {
  const flags = { 'concurrent-namespace-syncs': 10, 'namespace-sync-period': 5 * MINUTE_MS };
  const { context, informers, queues, clock } = fakeContext({ now: NOW, flags });
  const groups = ['', 'example.com'].map((name) => ({ name, preferredVersion: 'v1' }));
  const result: DiscoveryResult = { groups, resources: kinds, failed };
  const problem: { error?: Error } = {};
  const discovery = async () => {
    if (problem.error !== undefined) throw problem.error;
    return result;
  };
  const controller = namespaceController.build({ ...context, discovery })!;
  const namespaces = informers.of<Namespace>(NAMESPACES);
  if (run.namespace !== undefined) namespaces.put(run.namespace);
  const [definition] = controller.queues;
  return {
    controller,
    namespaces,
    clock,
    problem,
    queue: queues.get('namespace')!,
    workers: definition!.workers,
    sync: () => definition!.reconcile('team', run),
  };
}

function conditionsOf(run: EmptyingRun): Record<string, string> {
  const told = (run.namespace?.status?.conditions ?? []).filter(({ status }) => status === 'True');
  return Object.fromEntries(told.map(({ type, message = '' }) => [type, message]));
}

describe('the queue', () => {
  const plain = (more: object = {}) => ({
    metadata: { name: 'team', uid: 'u', resourceVersion: '1', ...more },
  });
  const going = plain({ deletionTimestamp: timeText(NOW) });

  test('takes namespaces that are being deleted, 5 s after the event', () => {
    const run = new EmptyingRun(NOW, 0);
    run.namespace = undefined;
    const { namespaces, queue, workers } = setUp(run);
    expect(workers).toBe(10);
    namespaces.put(plain());
    expect(queue.later).toEqual([]);
    namespaces.put(going);
    namespaces.put(going);
    expect(queue.later).toMatchObject([
      { key: 'team', delayMs: 5_000 },
      { key: 'team', delayMs: 5_000 },
    ]);
    namespaces.remove(going);
    expect(queue.later).toHaveLength(2);
  });

  test('looks at all of them again every period while leading', async () => {
    const run = new EmptyingRun(NOW, 0);
    run.namespace = undefined;
    const { namespaces, queue, clock, controller } = setUp(run);
    namespaces.put(going, { ...plain(), metadata: { ...plain().metadata, name: 'other' } });
    const lead = new AbortController();
    await controller.start?.(lead.signal);
    await clock.advance(5 * MINUTE_MS);
    await clock.advance(5 * MINUTE_MS);
    expect(queue.later).toHaveLength(3);
    lead.abort();
    await clock.advance(5 * MINUTE_MS);
    expect(queue.later).toHaveLength(3);
    expect(clock.timers()).toBe(0);
  });
});

describe('a namespace with nothing in its way', () => {
  test('is marked, emptied pods first, told about, and released', async () => {
    const run = new EmptyingRun(NOW, MINUTE_MS, { spec: { finalizers: ['z', 'kubernetes', 'a'] } });
    run.put(MAPS, { name: 'm' });
    run.put(WIDGETS, { name: 'w' });
    await setUp(run).sync();
    expect(run.calls).toEqual([
      'update namespaces/status team',
      'deletecollection pods team/',
      'deletecollection configmaps team/',
      'deletecollection widgets.example.com team/',
      'update namespaces/status team',
      'update namespaces/finalize team',
    ]);
    expect(run.namespace?.status?.phase).toBe('Terminating');
    expect(run.namespace?.spec?.finalizers).toEqual(['a', 'z']);
    expect(conditionsOf(run)).toEqual({});
    expect(run.wishes).toEqual([]);
    expect(run.writes[5]?.body).not.toHaveProperty('status');
  });

  test.each<[string, (run: EmptyingRun) => void]>([
    ['it is gone', (run) => (run.namespace = undefined)],
    [
      'it is not being deleted',
      (run) =>
        (run.namespace = {
          metadata: { ...run.namespace!.metadata, deletionTimestamp: undefined },
        }),
    ],
  ])('nothing is done if %s', async (_, change) => {
    const run = new EmptyingRun(NOW, 0);
    const { sync } = setUp(run);
    change(run);
    await sync();
    expect(run.writes).toEqual([]);
  });

  test('nothing is deleted if it has been released already', async () => {
    const run = new EmptyingRun(NOW, 0, { spec: { finalizers: [] } });
    await setUp(run).sync();
    expect(run.calls).toEqual(['update namespaces/status team']);
  });

  test('a key that is not in the cache is left alone', async () => {
    const run = new EmptyingRun(NOW, 0);
    const { sync, namespaces } = setUp(run);
    namespaces.remove(run.namespace!);
    await sync();
    expect(run.writes).toEqual([]);
  });
});

describe('pods', () => {
  test('hold everything else back, and both Remaining conditions stay False', async () => {
    const run = new EmptyingRun(NOW, 10_000);
    run.put(PODS, { name: 'p', grace: 30 }, { name: 'q', finalizers: ['f'] });
    run.put(MAPS, { name: 'm' });
    await setUp(run).sync();
    expect(run.left(MAPS)).toEqual(['m']);
    expect(conditionsOf(run)).toEqual({});
    expect(run.namespace?.status?.conditions).toHaveLength(5);
    expect(run.wishes).toMatchObject([{ delayMs: 16_000 }]);
    expect(run.namespace?.spec?.finalizers).toEqual(['kubernetes']);
    run.release(PODS);
    await setUp(run).sync();
    expect(run.namespace?.spec?.finalizers).toEqual([]);
  });

  test('that stay past their grace are an error', async () => {
    const run = new EmptyingRun(NOW, 31_000);
    run.put(PODS, { name: 'p', grace: 30 });
    const message = 'unexpected items still remain in namespace: team for gvr: /v1, Resource=pods';
    await expect(setUp(run).sync()).rejects.toThrow(
      `failed to delete pods for namespace: team, err: ${message}`,
    );
    expect(conditionsOf(run)).toEqual({
      NamespaceDeletionContentFailure: `Failed to delete all resource types, 1 remaining: ${message}`,
    });
  });

  test("that can not be listed don't stop the other kinds", async () => {
    const run = new EmptyingRun(NOW, 0);
    run.put(MAPS, { name: 'm' });
    run.refuse('list', 'pods', refusal(500, 'InternalError', 'etcd is away'));
    await expect(setUp(run).sync()).rejects.toThrow('etcd is away');
    expect(run.left(MAPS)).toEqual([]);
    expect(run.namespace?.spec?.finalizers).toEqual(['kubernetes']);
  });
});

describe('what stays', () => {
  test('by finalizers is told, and looked at again', async () => {
    const run = new EmptyingRun(NOW, MINUTE_MS);
    run.put(WIDGETS, { name: 'w', finalizers: ['example.com/f'] });
    run.put(MAPS, { name: 'm', finalizers: ['example.com/f', 'other'] });
    await setUp(run).sync();
    expect(conditionsOf(run)).toEqual({
      NamespaceContentRemaining:
        'Some resources are remaining: configmaps. has 1 resource instances, ' +
        'widgets.example.com has 1 resource instances',
      NamespaceFinalizersRemaining:
        'Some content in the namespace has finalizers remaining: ' +
        'example.com/f in 2 resource instances, other in 1 resource instances',
    });
    expect(run.wishes).toMatchObject([{ delayMs: 8_000 }]);
  });

  test('unexplained is an error; other kinds go on, and all failures are told', async () => {
    const run = new EmptyingRun(NOW, MINUTE_MS);
    run.put(MAPS, { name: 'm', stuck: true });
    run.put(WIDGETS, { name: 'w', stuck: true });
    const [first, second] = ['/v1, Resource=configmaps', 'example.com/v1, Resource=widgets'].map(
      (kind) => `unexpected items still remain in namespace: team for gvr: ${kind}`,
    );
    await expect(setUp(run).sync()).rejects.toThrow(`[${first}, ${second}]`);
    expect(conditionsOf(run)).toMatchObject({
      NamespaceDeletionContentFailure: `Failed to delete all resource types, 2 remaining: ${first}, ${second}`,
    });
  });

  test('an error beats an estimate: no wish to come again', async () => {
    const run = new EmptyingRun(NOW, MINUTE_MS);
    run.put(MAPS, { name: 'm', stuck: true });
    run.put(WIDGETS, { name: 'w', finalizers: ['f'] });
    await expect(setUp(run).sync()).rejects.toThrow('unexpected items');
    expect(run.wishes).toEqual([]);
  });
});

describe('kinds that can do less', () => {
  test('without deletecollection: one by one, with UID', async () => {
    const run = new EmptyingRun(NOW, 0);
    run.put(MAPS, { name: 'a' }, { name: 'b' });
    await setUp(run, [kindOf('configmaps', '', ['list', 'delete'])]).sync();
    expect(run.left(MAPS)).toEqual([]);
    expect(run.writes.filter(({ verb }) => verb === 'delete')).toMatchObject([
      { key: 'team/a', uid: 'a-uid' },
      { key: 'team/b', uid: 'b-uid' },
    ]);
  });

  test.each([
    [405, 'MethodNotAllowed'],
    [404, 'NotFound'],
  ])('deletecollection answered %p: one by one', async (code, reason) => {
    const run = new EmptyingRun(NOW, 0);
    run.put(MAPS, { name: 'a' });
    run.refuse('deletecollection', 'configmaps', refusal(code, reason));
    await setUp(run, [MAPS]).sync();
    expect(run.left(MAPS)).toEqual([]);
  });

  test('without list nothing is known to remain', async () => {
    const run = new EmptyingRun(NOW, 0);
    run.put(MAPS, { name: 'a', stuck: true });
    await setUp(run, [kindOf('configmaps', '', ['delete', 'deletecollection'])]).sync();
    expect(run.namespace?.spec?.finalizers).toEqual([]);
  });

  test('one that is gone meanwhile is no error, another refusal is', async () => {
    const one = [kindOf('configmaps', '', ['list', 'delete'])];
    const gone = new EmptyingRun(NOW, 0);
    gone.put(MAPS, { name: 'a' });
    gone.refuse('delete', 'configmaps', refusal(404, 'NotFound'));
    await setUp(gone, one).sync();
    expect(gone.namespace?.spec?.finalizers).toEqual([]);
    const refused = new EmptyingRun(NOW, 0);
    refused.put(MAPS, { name: 'a' });
    refused.refuse('delete', 'configmaps', refusal(403, 'Forbidden', 'not yours'));
    await expect(setUp(refused, one).sync()).rejects.toThrow('not yours');
  });

  test('one whose name another object has now keeps no other from going', async () => {
    const run = new EmptyingRun(NOW, 0);
    run.put(MAPS, { name: 'a' }, { name: 'b' });
    run.refuse('delete', 'configmaps', refusal(409, 'Conflict'));
    const one = [kindOf('configmaps', '', ['list', 'delete'])];
    await expect(setUp(run, one).sync()).rejects.toThrow('unexpected items still remain');
    expect(run.left(MAPS)).toEqual(['a']);
  });
});

describe('discovery', () => {
  test('that leaves something out is told; what is known is deleted, and the finalizer stays', async () => {
    const run = new EmptyingRun(NOW, 0);
    run.put(MAPS, { name: 'm' });
    const failed = new Map([['metrics.k8s.io/v1beta1', 'stale']]);
    const text =
      'unable to retrieve the complete list of server APIs: metrics.k8s.io/v1beta1: stale';
    await expect(setUp(run, [MAPS], failed).sync()).rejects.toThrow(text);
    expect(run.left(MAPS)).toEqual([]);
    expect(conditionsOf(run)).toEqual({
      NamespaceDeletionDiscoveryFailure: `Discovery failed for some groups, 1 failing: ${text}`,
    });
    expect(run.namespace?.spec?.finalizers).toEqual(['kubernetes']);
  });

  test('that fails as a whole is told', async () => {
    const run = new EmptyingRun(NOW, 0);
    const { sync, problem } = setUp(run);
    problem.error = new TransportError('connection refused');
    await expect(sync()).rejects.toThrow('connection refused');
    expect(conditionsOf(run)).toEqual({ NamespaceDeletionDiscoveryFailure: 'connection refused' });
  });
});

describe('conflicts and losses', () => {
  test('a conflict is tried again over a live read', async () => {
    const run = new EmptyingRun(NOW, 0);
    run.refuse('update', 'namespaces/status', refusal(409, 'Conflict'));
    run.refuse('update', 'namespaces/finalize', refusal(409, 'Conflict'));
    await setUp(run).sync();
    expect(run.namespace?.spec?.finalizers).toEqual([]);
    expect(run.calls.filter((call) => call.includes('finalize'))).toHaveLength(2);
  });

  test('not over another namespace of that name', async () => {
    const run = new EmptyingRun(NOW, 0);
    const { sync } = setUp(run);
    const other = { ...run.namespace!, metadata: { ...run.namespace!.metadata, uid: 'other' } };
    const swap = refusal(409, 'Conflict');
    run.refuse('update', 'namespaces/status', swap);
    const get = run.get.bind(run);
    let reads = 0;
    run.get = (async (...args: Parameters<typeof get>) => {
      if (++reads > 1) run.namespace = other;
      return get(...args);
    }) as typeof run.get;
    await expect(sync()).rejects.toThrow('namespace uid has changed across retries');
  });

  test('gives up after ten, for the queue to try later', async () => {
    const run = new EmptyingRun(NOW, 0);
    for (let n = 0; n < 11; n++) {
      run.refuse('update', 'namespaces/status', refusal(409, 'Conflict', 'modified'));
    }
    await expect(setUp(run).sync()).rejects.toThrow('modified');
    expect(run.writes).toHaveLength(11);
  });

  test('gone at the last step is fine', async () => {
    const run = new EmptyingRun(NOW, 0);
    run.refuse('update', 'namespaces/finalize', refusal(404, 'NotFound'));
    await setUp(run).sync();
  });

  test('refused conditions are noted, and the pass goes on', async () => {
    const run = new EmptyingRun(NOW, 0, { status: { phase: 'Terminating' } });
    run.refuse('update', 'namespaces/status', refusal(409, 'Conflict', 'modified'));
    await setUp(run).sync();
    expect(run.notes).toEqual(['conditions not written: modified']);
    expect(run.namespace?.spec?.finalizers).toEqual([]);
  });

  test('a lost Lease ends the pass at once', async () => {
    const run = new EmptyingRun(NOW, 0);
    run.refuse('deletecollection', 'pods', new FencedError());
    await expect(setUp(run).sync()).rejects.toThrow(FencedError);
    expect(run.calls).toEqual(['update namespaces/status team', 'deletecollection pods team/']);
  });
});
