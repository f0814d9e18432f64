import { describe, expect, test } from 'bun:test';
import { FencedError } from '../../api/errors.ts';
import { CONFIG_MAPS, PODS, SECRETS, SERVICE_ACCOUNTS } from '../../api/resource.ts';
import { timeText } from '../../api/time.ts';
import type { ConfigMap, Pod, Secret, ServiceAccount } from '../../api/types/index.ts';
import { fakeContext } from '../_kit/testing/fake-context.ts';
import { FakeRun, refusal } from '../_kit/testing/fake-run.ts';
import { podOf } from '../_kit/testing/objects.ts';
import { legacyServiceAccountTokenCleanerController } from './index.ts';

const DAY = 86_400_000;
const NOW = Date.parse('2026-11-30T12:00:00Z');
const FLAG = 'legacy-service-account-token-clean-up-period';
const INVALID_SINCE = 'kubernetes.io/legacy-token-invalid-since';
const TRACKING = 'kube-apiserver-legacy-service-account-token-tracking';

function tracking(data: Record<string, string> | undefined): ConfigMap {
  const metadata = { name: TRACKING, namespace: 'kube-system', uid: 't', resourceVersion: '1' };
  return { metadata, data };
}

function token(name: string, labels: Record<string, string> = {}, account = 'robot'): Secret {
  return {
    type: 'kubernetes.io/service-account-token',
    metadata: {
      name,
      namespace: 'team',
      uid: `uid-${name}`,
      resourceVersion: '7',
      labels,
      annotations: { 'kubernetes.io/service-account.name': account },
      creationTimestamp: timeText(NOW - 30 * DAY),
    },
  };
}

function account(...secrets: string[]): ServiceAccount {
  const metadata = { name: 'robot', namespace: 'team', uid: 'r', resourceVersion: '1' };
  return { metadata, secrets: secrets.map((name) => ({ name })) };
}

function setUp(since: ConfigMap | null = tracking({ since: '2026-01-01' })) {
  const { context, informers, queues, errors } = fakeContext({
    now: NOW,
    flags: { [FLAG]: 10 * DAY },
  });
  const built = legacyServiceAccountTokenCleanerController.build(context)!;
  const run = new FakeRun(NOW);
  if (since !== null) run.live(CONFIG_MAPS, since);
  return {
    secrets: informers.of<Secret>(SECRETS),
    accounts: informers.of<ServiceAccount>(SERVICE_ACCOUNTS),
    pods: informers.pods(),
    queue: queues.get('')!,
    start: () => built.start?.(run.signal),
    errors,
    run,
    round: () => built.queues[0]!.reconcile('all tokens', run),
  };
}

describe('rounds', () => {
  test('the first at the start, then one a day', async () => {
    const { queue, start, round, run } = setUp();
    await start();
    expect(queue.drain()).toEqual(['all tokens']);
    await round();
    expect(run.wishes).toEqual([{ delayMs: DAY, because: 'the next round' }]);
  });

  test.each<[string, ConfigMap | null, string[]]>([
    ['began too late', tracking({ since: '2026-11-20' }), []],
    ['is not there', null, [`kube-system/${TRACKING} not found`]],
    ['says nothing', tracking({}), ['configMap does not have since label']],
    ['has no data', tracking(undefined), ['configMap does not have since label']],
    [
      'says no date',
      tracking({ since: 'now' }),
      ['error parsing trackedSince time: "now" is no date'],
    ],
  ])('nothing is touched if the tracking %s', async (_, since, complaints) => {
    const { secrets, accounts, run, round, errors } = setUp(since);
    accounts.put(account('old'));
    secrets.put(token('old', { [INVALID_SINCE]: '2026-01-01' }));
    await round();
    expect(run.writes).toEqual([]);
    expect(errors).toEqual(
      complaints.map((each) => `Getting lastest possible tracked_since time: ${each}`),
    );
    expect(run.wishes).toHaveLength(1);
  });

  test('an unused token is marked, one marked long ago is deleted under UID and version', async () => {
    const { secrets, accounts, run, round } = setUp();
    accounts.put(account('fresh', 'old'));
    secrets.put(token('fresh', { team: 'a' }), token('old', { [INVALID_SINCE]: '2026-01-01' }));
    await round();
    expect(run.writes).toEqual([
      expect.objectContaining({
        verb: 'patch',
        key: 'team/fresh',
        body: {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: {
            name: 'fresh',
            namespace: 'team',
            uid: 'uid-fresh',
            labels: { [INVALID_SINCE]: '2026-11-30' },
          },
        },
      }),
      expect.objectContaining({ verb: 'delete', key: 'team/old', uid: 'uid-old' }),
    ]);
  });

  test('one that a pod names stays also if the disk lost pods', async () => {
    const { secrets, accounts, pods, run, round } = setUp();
    accounts.put(account('old', 'unused'));
    secrets.put(token('old'), token('unused'));
    const lost = podOf({ name: 'lost', namespace: 'team' });
    const gone = podOf({ name: 'gone', namespace: 'team' });
    pods.put(gone, lost);
    pods.lose(gone);
    pods.lose(lost);
    const live = { ...lost, spec: { ...lost.spec!, imagePullSecrets: [{ name: 'old' }] } };
    run.live(PODS, live);
    await round();
    expect(run.writes.map(({ key }) => key)).toEqual(['team/unused']);
  });

  test.each<[string, Partial<Pod['spec']>]>([
    ['to pull images', { imagePullSecrets: [{ name: 'old' }] }],
    ['in a volume', { volumes: [{ name: 'v', secret: { secretName: 'old' } }] }],
    [
      'in the environment of an init container',
      { initContainers: [{ name: 'i', envFrom: [{ secretRef: { name: 'old' } }] }] },
    ],
  ])('one that a pod names %s stays', async (_, spec) => {
    const { secrets, accounts, pods, run, round } = setUp();
    accounts.put(account('old'));
    secrets.put(token('old'));
    const pod = podOf({ namespace: 'team' });
    pods.put({ ...pod, spec: { ...pod.spec!, ...spec } });
    await round();
    expect(run.writes).toEqual([]);
  });

  test('one that is not in the list of its account stays, and so does any other Secret', async () => {
    const { secrets, accounts, run, round } = setUp();
    accounts.put(account('own', 'opaque'));
    const metadata = { ...token('other').metadata, annotations: {} };
    secrets.put(token('made'), token('own', {}, 'nobody'), { ...token('other'), metadata });
    secrets.put({ ...token('opaque'), type: 'Opaque' });
    const foreign = token('own').metadata;
    const annotations = { ...foreign.annotations, 'kubernetes.io/service-account.uid': 'another' };
    secrets.put({ ...token('own'), metadata: { ...foreign, annotations } });
    await round();
    expect(run.writes).toEqual([]);
  });

  test('what fails is logged and holds up nothing; what is gone is fine; a fence ends it', async () => {
    const { secrets, accounts, run, round, errors } = setUp();
    accounts.put(account('a', 'b', 'c', 'd'));
    const old = { [INVALID_SINCE]: '2026-01-01' };
    secrets.put(token('a'), token('b', old), token('c', old), token('d', old));
    run.failNext('patch', refusal(403, 'Forbidden', 'no'));
    run.failNext('delete', refusal(409, 'Conflict'));
    run.failNext('delete', refusal(404, 'NotFound'));
    run.failNext('delete', new Error('no answer'));
    await round();
    expect(errors).toEqual([
      'Cleaning a legacy service account token: no',
      'Cleaning a legacy service account token: no answer',
    ]);
    run.failNext('patch', new FencedError());
    await expect(round()).rejects.toThrow(FencedError);
  });

  test('wait until the caches are as new as the server', async () => {
    const { secrets, accounts, pods, round, run } = setUp();
    secrets.put(token('old', { [INVALID_SINCE]: '2026-11-01' }));
    accounts.put(account('old'));
    pods.complete = false;
    await round();
    expect(run.writes).toEqual([]);
    expect(run.wishes).toMatchObject([{ delayMs: 200 }]);
    pods.complete = true;
    await round();
    expect(run.writes).toMatchObject([{ verb: 'delete', key: 'team/old' }]);
  });
});

describe('the period', () => {
  test.each<[number, string]>([
    [0, '0s'],
    [-3_600_000, '-1h0m0s'],
  ])('%p is refused', (periodMs, shown) => {
    expect(legacyServiceAccountTokenCleanerController.refuses?.({ [FLAG]: periodMs })).toBe(
      `failed to init the legacy service account token cleaner: invalid CleanUpPeriod: ${shown}`,
    );
  });

  test('above zero is taken', () => {
    expect(legacyServiceAccountTokenCleanerController.refuses?.({ [FLAG]: 0.5 })).toBeUndefined();
  });
});
