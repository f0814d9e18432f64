import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { keyOfIdentity } from '../../controllers/garbage-collector/identity.ts';
import type { ObjectRow, StorePort } from '../../runtime/ports.ts';
import { toldText } from '../../runtime/told.ts';
import { openInspector, tell } from '../index.ts';
import {
  cleanUp,
  journalRow,
  objectRow,
  openTestStore,
  SLOW_TEST_MS,
  START,
  setPoint,
  temporaryDirectory,
  workRow,
} from '../testing/kit.ts';

setDefaultTimeout(SLOW_TEST_MS);
afterAll(cleanUp);

const SECOND = 1_000;

/** What is told about an object of a file that holds what `fill` puts into it. */
async function told(resource: string, key: string, fill: (store: StorePort) => void) {
  const dir = temporaryDirectory();
  const { store, shut } = await openTestStore(dir);
  fill(store);
  store.commit();
  const inspect = openInspector(dir);
  const explanation = inspect.explain(resource, key);
  inspect.close();
  await shut();
  const found = tell(explanation, START + 10 * SECOND);
  return { ...found, text: toldText(found) };
}

function failing(queue: string, key: string, error: string) {
  return workRow(queue, key, {
    failures: 4,
    dirty: false,
    dueAt: START + 40 * SECOND,
    lastError: error,
  });
}

describe('what is told about an object', () => {
  test('what fails comes first, with the next try', async () => {
    const { verdict, sentences } = await told('deployments.apps', 'default/web', (store) => {
      store.objects.put(objectRow('deployments.apps', 'default/web', '7', { kind: 'Deployment' }));
      store.work.put(failing('deployment', 'default/web', 'exceeded\n  quota'));
    });
    expect(verdict).toBe('failing');
    expect(sentences[0]).toBe(
      'deployment-controller has failed on it 4 times in a row, last with: exceeded quota. ' +
        'It is tried again in 30s (at 2026-01-01T00:00:40Z).',
    );
  });

  test('a key of the same name in a queue of another resource is not meant', async () => {
    const { verdict, work } = await told('services', 'default/web', (store) => {
      store.objects.put(objectRow('services', 'default/web'));
      store.work.put(failing('deployment', 'default/web', 'no'));
      store.journal(journalRow('default/web'));
    }).then(({ verdict, evidence }) => ({
      verdict,
      work: evidence.filter(({ title }) => title !== 'Object').flatMap(({ lines }) => lines),
    }));
    expect([verdict, work]).toEqual(['quiet', []]);
  });

  test.each([
    ['secrets', 'default/s', 'serviceaccount_tokens_service/secrets', 'default/s/uid-1/ci/uid-2'],
    ['serviceaccounts', 'default/ci', 'serviceaccount_tokens_service/accounts', 'default/ci/uid-2'],
    ['pods', 'default/p', 'noexec_taint_pod', 'default/p'],
    ['nodes', 'n', 'noexec_taint_node', 'n'],
    ['namespaces', 'default', 'serviceaccount', 'default'],
    ['namespaces', 'default', 'resource_quota_controller_resource_changes', 'pods default'],
    ['horizontalpodautoscalers.autoscaling', 'a/h', 'horizontalpodautoscaler', 'a/h'],
  ])('%s %s: the key of %s', async (resource, key, queue, workKey) => {
    const { verdict, sentences } = await told(resource, key, (store) => {
      store.work.put(failing(queue, workKey, 'no'));
    });
    expect(verdict).toBe('failing');
    expect(sentences[0]).toContain('has failed on it 4 times in a row, last with: no.');
  });

  test('the garbage collector knows objects by kind and UID', async () => {
    const row = objectRow('replicasets.apps', 'default/web', '1', { spec: { replicas: 0 } });
    const identity = { apiVersion: 'apps/v1', kind: 'ReplicaSet', namespace: 'default' };
    const fill = (uid: string) => (store: StorePort) => {
      store.objects.put(row);
      const key = keyOfIdentity({ ...identity, name: 'web', uid });
      store.work.put(failing('garbage_collector_attempt_to_delete', key, 'no'));
      store.journal(journalRow(key, { controller: 'garbage-collector-controller' }));
    };
    const found = await told('replicasets.apps', 'default/web', fill(row.uid));
    expect(found.verdict).toBe('failing');
    expect(found.text).toContain('garbage-collector-controller last looked at it 10s ago');
    expect((await told('replicasets.apps', 'default/web', fill('other'))).verdict).toBe('quiet');
  });

  test('several controllers that act on one object are all heard', async () => {
    const write = {
      verb: 'patch',
      resource: 'pods',
      namespace: 'default',
      name: 'p',
      because: 'its node is gone',
      outcome: 'ok',
    };
    const { text } = await told('pods', 'default/p', (store) => {
      store.objects.put(
        objectRow('pods', 'default/p', '3', {
          status: { phase: 'Pending', containerStatuses: [] },
        }),
      );
      setPoint(store, 'pods', 3);
      store.journal(journalRow('default/web', { writes: [write] }));
      const other = { controller: 'taint-eviction-controller', outcome: 'error' } as const;
      store.journal(journalRow('default/p', { ...other, error: 'conflict' }));
    });
    expect(text).toContain('It is Pending on no node yet.');
    expect(text).toContain(
      'replicaset-controller last acted 10s ago: patch pods default/p, because its node is gone.',
    );
    expect(text).toContain('taint-eviction-controller last tried it 10s ago and failed: conflict');
  });

  test('what it owns, in which phases, and what it waits for', async () => {
    const owner = objectRow('replicasets.apps', 'default/web', '1', {
      kind: 'ReplicaSet',
      spec: { replicas: 9 },
      status: { replicas: 8, readyReplicas: 7 },
    });
    const { text } = await told('replicasets.apps', 'default/web', (store) => {
      store.objects.put(owner);
      for (let i = 0; i < 8; i++) {
        const pod = objectRow('pods', `default/web-${i}`);
        const object = JSON.parse(pod.json);
        object.metadata.ownerReferences = [{ apiVersion: 'apps/v1', uid: owner.uid }];
        object.status = { phase: i === 0 ? 'Pending' : 'Running' };
        store.objects.put({ ...pod, json: JSON.stringify(object) });
      }
    });
    expect(text).toContain('It wants 9 replicas: 8 there, 7 ready.');
    expect(text).toContain(
      'It owns 8 Pods (1 Pending, 7 Running): default/web-0, default/web-1, default/web-2, ' +
        'default/web-3, default/web-4 and 3 more.',
    );
    expect(text).toContain(
      'Nothing is awaited and no queue holds it: Holdfast has done what it can, and looks again',
    );
  });

  const owned = (row: ObjectRow, owner: ObjectRow): ObjectRow => {
    const object = JSON.parse(row.json);
    object.metadata.ownerReferences = [{ apiVersion: 'apps/v1', kind: 'X', uid: owner.uid }];
    return { ...row, json: JSON.stringify(object) };
  };
  const replicas = (wanted: number, ready: number) => ({
    spec: { replicas: wanted },
    status: { replicas: wanted, updatedReplicas: wanted, readyReplicas: ready },
  });
  const web = (ready: number) =>
    objectRow('deployments.apps', 'default/web', '1', {
      kind: 'Deployment',
      ...replicas(2, ready),
    });
  const made = { kind: 'ReplicaSet' };

  test('of a stuck Deployment the pods that are to blame are told', async () => {
    const owner = web(0);
    const old = objectRow('replicasets.apps', 'default/web-old', '1', {
      ...made,
      ...replicas(0, 0),
    });
    const fresh = objectRow('replicasets.apps', 'default/web-new', '1', {
      ...made,
      ...replicas(1, 0),
    });
    const pod = objectRow('pods', 'default/web-new-x', '1', {
      kind: 'Pod',
      spec: { nodeName: 'n' },
      status: {
        phase: 'Pending',
        conditions: [
          { type: 'ContainersReady', status: 'False', reason: 'ContainersNotReady' },
          { type: 'Ready', status: 'False', reason: 'ContainersNotReady' },
        ],
        containerStatuses: [
          { name: 'c', state: { waiting: { reason: 'ErrImagePull', message: 'no such image' } } },
        ],
      },
    });
    const { verdict, sentences } = await told('deployments.apps', 'default/web', (store) => {
      store.objects.put(owner);
      store.objects.put(owned(old, owner));
      store.objects.put(owned(fresh, owner));
      store.objects.put(owned(pod, fresh));
    });
    expect(verdict).toBe('waiting');
    expect(sentences.filter((each) => each.includes('below it'))).toEqual([
      'ReplicaSet default/web-new below it: it wants 1 replica: 1 there, 1 up to date, 0 ready.',
      'Pod default/web-new-x below it: it is Pending on node n; containers wait: c (ErrImagePull: ' +
        'no such image); it says of itself: Ready is False (ContainersNotReady).',
    ]);
    expect(sentences.join(' ')).not.toContain('as it should be');
  });

  test('what fails below it makes it fail', async () => {
    const owner = web(0);
    const set = objectRow('replicasets.apps', 'default/web-new', '1', {
      ...made,
      ...replicas(0, 0),
    });
    const { verdict, text } = await told('deployments.apps', 'default/web', (store) => {
      store.objects.put(owner);
      store.objects.put(owned(set, owner));
      store.work.put(failing('replicaset', 'default/web-new', 'exceeded quota'));
    });
    expect(verdict).toBe('failing');
    expect(text).toContain(
      'replicaset-controller has failed on ReplicaSet default/web-new below it 4 times in a row, ' +
        'last with: exceeded quota. It is tried again in 30s',
    );
    expect(text).not.toContain('no queue holds it');
  });

  test('of many that lack something five are named', async () => {
    const owner = objectRow('daemonsets.apps', 'default/agent');
    const { sentences } = await told('daemonsets.apps', 'default/agent', (store) => {
      store.objects.put(owner);
      const status = { conditions: [{ type: 'Ready', status: 'False' }] };
      for (let i = 0; i < 7; i++) {
        store.objects.put(owned(objectRow('pods', `default/agent-${i}`, '1', { status }), owner));
      }
    });
    const below = sentences.filter((each) => each.includes('below it'));
    expect([below.length, below.at(-1)]).toEqual([6, '2 more below it lack something.']);
  });

  test.each([
    ['ready', 'deployments.apps', replicas(2, 2), 'quiet'],
    ['not ready', 'statefulsets.apps', replicas(2, 1), 'waiting'],
    [
      'not updated',
      'deployments.apps',
      {
        spec: { replicas: 2 },
        status: { readyReplicas: 2, updatedReplicas: 1 },
      },
      'waiting',
    ],
    [
      'not on each node',
      'daemonsets.apps',
      {
        status: { desiredNumberScheduled: 2, numberReady: 1 },
      },
      'waiting',
    ],
    ['trying again', 'jobs.batch', { status: { failed: 1 } }, 'waiting'],
    [
      'complete at last',
      'jobs.batch',
      {
        status: { failed: 1, conditions: [{ type: 'Complete', status: 'True' }] },
      },
      'quiet',
    ],
    [
      'within its bounds',
      'horizontalpodautoscalers.autoscaling',
      {
        status: { conditions: [{ type: 'ScalingLimited', status: 'False' }] },
      },
      'quiet',
    ],
  ] as const)('%s: %s', async (_name, resource, parts, expected) => {
    const { verdict, text } = await told(resource, 'default/a', (store) => {
      store.objects.put(objectRow(resource, 'default/a', '1', parts));
    });
    expect(verdict).toBe(expected);
    expect(text.includes('as it should be')).toBe(expected === 'quiet');
  });

  describe('of a CronJob', () => {
    const cron = async (spec: object, status: object = {}): Promise<string[]> => {
      const { sentences } = await told('cronjobs.batch', 'default/tick', (store) => {
        const row = objectRow('cronjobs.batch', 'default/tick', '1', {
          spec: { schedule: '30 * * * *', timeZone: 'Asia/Kolkata', ...spec },
          status,
        });
        const object = JSON.parse(row.json);
        object.metadata.creationTimestamp = '2025-12-31T22:10:00Z';
        store.objects.put({ ...row, json: JSON.stringify(object) });
      });
      return sentences.filter((each) => /schedule|last Job|no Job|zone/.test(each));
    };
    const NEXT = 'next in 59m50s (at 2026-01-01T01:00:00Z)';
    const SHOWN = 'Its schedule is "30 * * * *" in Asia/Kolkata';
    const LAST = 'Its last Job was for 2026-01-01T00:00:00Z, 10s ago.';
    const EARLIER = 'Its last Job was for 2025-12-31T23:00:00Z, 1h ago.';
    const at = (lastScheduleTime: string) => ({ lastScheduleTime });
    const missed = (why: string) => `The time 2026-01-01T00:00:00Z, 10s ago, has no Job: ${why}.`;
    const active = [{ name: 'tick-1' }];
    const forbid = { concurrencyPolicy: 'Forbid' };

    test.each<[string, object, object, string[]]>([
      ['on time', {}, at('2026-01-01T00:00:00Z'), [`${SHOWN}: it runs ${NEXT}.`, LAST]],
      [
        'not started yet',
        {},
        {},
        [
          `${SHOWN}: it runs ${NEXT}.`,
          'It has started no Job yet.',
          missed('it is still to be started'),
        ],
      ],
      [
        'suspended',
        { suspend: true },
        at('2025-12-31T23:00:00Z'),
        [
          `${SHOWN}. It is suspended; otherwise it would run ${NEXT}.`,
          EARLIER,
          missed('it is suspended'),
        ],
      ],
      [
        'too late',
        { startingDeadlineSeconds: 5 },
        at('2025-12-31T23:00:00Z'),
        [
          `${SHOWN}: it runs ${NEXT}.`,
          EARLIER,
          missed('it was missed, for it may start 5s late at most'),
        ],
      ],
      [
        'beside one that is active',
        forbid,
        { ...at('2025-12-31T23:00:00Z'), active },
        [
          `${SHOWN}: it runs ${NEXT}.`,
          EARLIER,
          missed('a Job is active, and none may run beside it'),
        ],
      ],
      [
        'in a zone of its own',
        { schedule: 'TZ=Asia/Tokyo 0 0 * * *' },
        at('2025-12-31T15:00:00Z'),
        [
          'Its schedule is "TZ=Asia/Tokyo 0 0 * * *": it runs next in 14h59m ' +
            '(at 2026-01-01T15:00:00Z).',
          'Its last Job was for 2025-12-31T15:00:00Z, 9h ago.',
        ],
      ],
      [
        'in a zone that is not there',
        { timeZone: 'No/Where' },
        {},
        ["Its time zone can't be used: unknown time zone No/Where. It never runs."],
      ],
      [
        'that nobody can read',
        { schedule: 'soon' },
        {},
        [
          'Its schedule is "soon", which says nothing: expected exactly 5 fields, ' +
            'found 1: [soon].',
        ],
      ],
      [
        'that never comes',
        { schedule: '0 0 31 2 *' },
        {},
        ['Its schedule is "0 0 31 2 *" in Asia/Kolkata, which fits no time within five years.'],
      ],
    ])('its times: %s', async (_, spec, status, sentences) => {
      expect(await cron(spec, status)).toEqual(sentences);
    });

    test('without a zone: that of the process', async () => {
      expect((await cron({ timeZone: undefined }))[0]).toMatch(
        /^Its schedule is "30 \* \* \* \*" in the zone of the process \(here \S+\): it runs next in /,
      );
    });
  });

  test('deletion, finalizers, conditions that are trouble', async () => {
    const { text } = await told('deployments.apps', 'default/web', (store) => {
      const row = objectRow('deployments.apps', 'default/web', '1', {
        status: {
          conditions: [
            { type: 'Available', status: 'False', reason: 'Min', message: 'too few' },
            { type: 'Progressing', status: 'True' },
          ],
        },
      });
      const object = JSON.parse(row.json);
      object.metadata.deletionTimestamp = '2025-12-31T23:59:10Z';
      object.metadata.finalizers = ['foregroundDeletion'];
      store.objects.put({ ...row, json: JSON.stringify(object) });
    });
    expect(text).toContain(
      'It is being deleted since 1m; these finalizers hold it: foregroundDeletion.',
    );
    expect(text).toContain('It says of itself: Available is False (Min): too few');
    expect(text).not.toContain('Progressing is');
    expect(text).toContain('  Progressing True\n');
  });

  test('nothing at all', async () => {
    const { verdict, text } = await told('pods', 'default/none', () => undefined);
    expect(verdict).toBe('unknown');
    expect(text).toBe(
      'Pod default/none\n\nPod default/none is not cached: it is gone, or was never seen.\n' +
        'No complete list of pods is stored.\n',
    );
  });
});
