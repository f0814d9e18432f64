/** OrderedReady sets: one pod after the other, in the words of the catalogue. */
import { describe, expect, test } from 'bun:test';
import { refusal } from '../_kit/testing/fake-run.ts';
import { pod, type SetOptions, statefulSet, template } from './testing/build.ts';
import { Server } from './testing/server.ts';
import { eventsOf, podWritesOf, statusOf, writesOf } from './testing/steps.ts';

/** A server on which `count` pods of the set's revision run, its status written. */
function running(options: SetOptions = {}, count = options.replicas ?? 3): Server {
  const server = new Server(statefulSet(options));
  for (let round = 0; round < count; round++) {
    server.sync();
    const name = `web-${(options.start ?? 0) + round}`;
    if (server.pods.has(name)) server.run(name);
  }
  server.sync();
  return server;
}

describe('creating', () => {
  test('the first missing pod only, with its identity, at the update revision', () => {
    const server = new Server(statefulSet());
    const actions = server.sync();
    expect(writesOf(actions)).toEqual(['createRevision 1', 'createPod web-0', 'updateStatus']);
    const made = server.pods.get('web-0')!;
    const [revision] = [...server.revisions.keys()];
    expect(made.metadata.labels).toEqual({
      app: 'web',
      'statefulset.kubernetes.io/pod-name': 'web-0',
      'apps.kubernetes.io/pod-index': '0',
      'controller-revision-hash': revision!,
    });
    expect(made.spec).toMatchObject({ hostname: 'web-0', subdomain: 'web' });
    expect(eventsOf(actions)).toEqual([
      'SuccessfulCreate: Create Pod web-0 in StatefulSet web successful',
    ]);
  });

  test('waits while a pod is pending, not ready, terminating, or not available', () => {
    const waits = [
      pod(0, { phase: 'Pending' }),
      pod(0, { ready: false }),
      pod(0, { deleting: true }),
      pod(0, { readyFor: 5 }),
    ];
    for (const first of waits) {
      const server = new Server(statefulSet({ minReadySeconds: 10 }), first);
      expect(podWritesOf(server.sync())).toEqual([]);
    }
    const ready = new Server(statefulSet({ minReadySeconds: 10 }), pod(0, { readyFor: 10 }));
    expect(podWritesOf(ready.sync())).toEqual(['createPod web-1']);
  });

  test('an announced deletion counts as terminating, and is sent again if the pod has to go', () => {
    const kept = running({ replicas: 2 });
    kept.going.add(kept.pods.get('web-0')!.metadata.uid);
    expect(podWritesOf(kept.sync())).toEqual([]);
    const surplus = running({ replicas: 2 });
    surplus.going.add(surplus.pods.get('web-1')!.metadata.uid);
    surplus.edit({ replicas: 1 });
    expect(podWritesOf(surplus.sync())).toEqual(['deletePod web-1']);
    const outdated = running({ replicas: 3 });
    outdated.going.add(outdated.pods.get('web-1')!.metadata.uid);
    outdated.edit({ template: template('web:2') });
    expect(podWritesOf(outdated.sync())).toEqual(['deletePod web-1']);
  });

  test('starts at spec.ordinals.start', () => {
    const server = running({ start: 5, replicas: 2 });
    expect([...server.pods.keys()]).toEqual(['web-5', 'web-6']);
    expect(server.pods.get('web-6')?.metadata.labels?.['apps.kubernetes.io/pod-index']).toBe('6');
  });

  test('a refusal is shown, ends the sync, and the status is written nevertheless', () => {
    const server = new Server(statefulSet());
    server.refuse = ({ kind }) =>
      kind === 'createPod' ? refusal(403, 'Forbidden', 'no') : undefined;
    const { actions, error } = server.trySync();
    expect(error?.message).toBe('no');
    expect(writesOf(actions).at(-1)).toBe('updateStatus');
    expect(eventsOf(actions)).toEqual([
      'FailedCreate: Create Pod web-0 in StatefulSet web failed error: no',
    ]);
  });

  test('a name that is taken fails the sync without an event', () => {
    const server = new Server(statefulSet());
    server.refuse = ({ kind }) =>
      kind === 'createPod' ? refusal(409, 'AlreadyExists') : undefined;
    const { actions, error } = server.trySync();
    expect(error).toMatchObject({ reason: 'AlreadyExists' });
    expect(eventsOf(actions)).toEqual([]);
  });
});

describe('replacing', () => {
  test.each(['Failed', 'Succeeded'])(
    'a %s pod is deleted, and made anew by a later sync',
    (phase) => {
      const server = running();
      server.run('web-1', false, phase);
      const actions = server.sync();
      expect(podWritesOf(actions)).toEqual(['deletePod web-1']);
      expect(eventsOf(actions)).toEqual([
        'SuccessfulDelete: Delete Pod web-1 in StatefulSet web successful',
      ]);
      expect(podWritesOf(server.sync())).toEqual([]);
      server.pods.delete('web-1');
      expect(podWritesOf(server.sync())).toEqual(['createPod web-1']);
    },
  );

  test('an unhealthy pod holds up all above it, also the update', () => {
    const server = running();
    server.run('web-0', false);
    server.edit({ template: template('app:2') });
    expect(podWritesOf(server.sync())).toEqual([]);
  });
});

describe('putting right', () => {
  test('a lost name label is written back, four tries on conflict', () => {
    const server = running();
    server.patch('web-1', (stored) => {
      const labels = { ...stored.metadata.labels, 'statefulset.kubernetes.io/pod-name': 'other' };
      return { ...stored, metadata: { ...stored.metadata, labels } };
    });
    let conflicts = 3;
    server.refuse = ({ kind }) =>
      kind === 'updatePod' && conflicts-- > 0 ? refusal(409, 'Conflict') : undefined;
    const actions = server.sync();
    expect(podWritesOf(actions)).toEqual(Array(4).fill('updatePod web-1'));
    expect(eventsOf(actions)).toEqual([
      'SuccessfulUpdate: Update Pod web-1 in StatefulSet web successful',
    ]);
    const { labels } = server.pods.get('web-1')!.metadata;
    expect(labels?.['statefulset.kubernetes.io/pod-name']).toBe('web-1');
    expect(labels?.['apps.kubernetes.io/pod-index']).toBe('1');
  });

  test('put right by somebody else after a conflict: shown as done', () => {
    const server = running();
    const name = 'statefulset.kubernetes.io/pod-name';
    const label = (value: string): void =>
      server.patch('web-1', ({ metadata, ...stored }) => {
        const labels = { ...metadata.labels, [name]: value };
        return { ...stored, metadata: { ...metadata, labels } };
      });
    label('other');
    server.refuse = ({ kind }) => {
      if (kind !== 'updatePod') return undefined;
      label('web-1');
      return refusal(409, 'Conflict');
    };
    const actions = server.sync();
    expect(podWritesOf(actions)).toEqual(['updatePod web-1']);
    expect(eventsOf(actions)).toEqual([
      'SuccessfulUpdate: Update Pod web-1 in StatefulSet web successful',
    ]);
  });

  test('the fourth conflict is shown and fails the sync', () => {
    const server = running();
    server.patch('web-1', (stored) => ({
      ...stored,
      metadata: { ...stored.metadata, labels: { app: 'web' } },
    }));
    server.refuse = ({ kind }) =>
      kind === 'updatePod' ? refusal(409, 'Conflict', 'moved') : undefined;
    const { actions, error } = server.trySync();
    expect(podWritesOf(actions)).toHaveLength(4);
    expect(eventsOf(actions)).toEqual([
      'FailedUpdate: Update Pod web-1 in StatefulSet web failed error: moved',
    ]);
    expect(error?.message).toBe('moved');
  });
});

describe('scaling down', () => {
  test('from the highest ordinal, one at a time, and waits for it to be gone', () => {
    const server = running();
    server.edit({ replicas: 1 });
    const actions = server.sync();
    expect(podWritesOf(actions)).toEqual(['deletePod web-2']);
    expect(podWritesOf(server.sync())).toEqual([]);
    server.pods.delete('web-2');
    expect(podWritesOf(server.sync())).toEqual(['deletePod web-1']);
  });

  test('waits for an unhealthy pod below, unless the highest is the lowest unhealthy one', () => {
    const server = running();
    server.edit({ replicas: 0 });
    server.run('web-1', false);
    expect(podWritesOf(server.sync())).toEqual(['deletePod web-2']);
    server.pods.delete('web-2');
    expect(podWritesOf(server.sync())).toEqual(['deletePod web-1']);
  });

  test('two unhealthy pods: the lower one is the first, so the higher one waits', () => {
    const server = running();
    server.edit({ replicas: 0 });
    server.run('web-1', false);
    server.run('web-2', false);
    expect(podWritesOf(server.sync())).toEqual([]);
  });

  test('pods below the start go last', () => {
    const server = running({ replicas: 2 });
    server.edit({ ordinals: { start: 1 }, replicas: 1 });
    expect(podWritesOf(server.sync())).toEqual(['deletePod web-0']);
  });

  test('comes before an update', () => {
    const server = running();
    server.edit({ replicas: 2, template: template('app:2') });
    expect(podWritesOf(server.sync())).toEqual(['deletePod web-2']);
  });
});

describe('a set that is being deleted', () => {
  test('gets its status only', () => {
    const server = new Server(statefulSet({ deleting: true }), pod(0), pod(7));
    const actions = server.sync();
    expect(podWritesOf(actions)).toEqual([]);
    expect(statusOf(actions)).toMatchObject({ replicas: 2, readyReplicas: 2 });
  });
});

describe('a pod without an ordinal that counts', () => {
  test('is left alone', () => {
    const server = new Server(statefulSet({ replicas: 0 }), pod('web-99999999999'));
    const actions = server.sync();
    expect(podWritesOf(actions)).toEqual([]);
    expect(statusOf(actions)).toMatchObject({ replicas: 0 });
  });
});
