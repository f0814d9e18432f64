import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { keyOfIdentity } from '../../controllers/garbage-collector/identity.ts';
import type { StorePort } from '../../runtime/ports.ts';
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
    const row = objectRow('replicasets.apps', 'default/web');
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
    expect(text).toContain('Nothing is awaited and no queue holds it');
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
