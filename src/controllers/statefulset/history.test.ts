/** The revisions of a StatefulSet: found, raised, made, cut. */
import { describe, expect, test } from 'bun:test';
import { parseJson } from '../../api/json.ts';
import type { ControllerRevision, StatefulSet } from '../../api/types/index.ts';
import { STATEFUL_NUMBERS, templateData } from '../_kit/revisions/data.ts';
import { refusal } from '../_kit/testing/fake-run.ts';
import { revisionName } from './history.ts';
import { pod, statefulSet, template } from './testing/build.ts';
import { CONFIG, Server } from './testing/server.ts';
import { writesOf } from './testing/steps.ts';

function stored(name: string, revision: number, image: string): ControllerRevision {
  const data = parseJson<object>(templateData(template(image), STATEFUL_NUMBERS));
  const metadata = { name, namespace: 'default', uid: `${name}-uid`, resourceVersion: '1' };
  return { metadata, data, revision };
}

function serverOf(set: StatefulSet, ...revisions: ControllerRevision[]): Server {
  const server = new Server(set);
  for (const revision of revisions) server.revisions.put(revision);
  return server;
}

function revisionWrites(server: Server): string[] {
  return writesOf(server.sync()).filter((write) => /Revision/.test(write));
}

describe('the update revision', () => {
  test('is made with the labels of the template, its hash, and the annotations of the set', () => {
    const server = new Server(statefulSet({ annotations: { team: 'a' } }));
    expect(revisionWrites(server)).toEqual(['createRevision 1']);
    const [made] = server.revisions.values();
    const hash = made!.metadata.name.slice('web-'.length);
    expect(made!.metadata).toMatchObject({
      namespace: 'default',
      labels: { app: 'web', 'controller.kubernetes.io/hash': hash },
      annotations: { team: 'a' },
      ownerReferences: [{ kind: 'StatefulSet', name: 'web', uid: 'set-uid', controller: true }],
    });
  });

  test('is the newest if that holds the template', () => {
    const server = serverOf(statefulSet(), stored('a', 4, 'app:0'), stored('b', 5, 'app:1'));
    expect(revisionWrites(server)).toEqual([]);
    expect(server.set.status?.updateRevision).toBe('b');
  });

  test('is an older one raised to be the newest, the highest of equal ones', () => {
    const server = serverOf(
      statefulSet(),
      stored('a', 1, 'app:1'),
      stored('b', 2, 'app:1'),
      stored('c', 3, 'app:2'),
    );
    expect(revisionWrites(server)).toEqual(['renumberRevision b to 4']);
    expect(server.set.status?.updateRevision).toBe('b');
  });

  test('is the newest if that only restores the template; an older one does not count', () => {
    const old = stored('a', 1, 'app:1');
    const data = {
      spec: {
        template: {
          $patch: 'replace',
          metadata: { creationTimestamp: null, labels: { app: 'web' } },
          spec: template().spec,
        },
      },
    };
    const { metadata } = old;
    const lacking = { metadata, data, revision: 1 };
    const full = {
      ...template(),
      spec: {
        ...template().spec!,
        dnsPolicy: 'ClusterFirst',
        schedulerName: 'default-scheduler',
        securityContext: {},
        terminationGracePeriodSeconds: 30,
        containers: [
          {
            name: 'app',
            image: 'app:1',
            imagePullPolicy: 'IfNotPresent',
            resources: {},
            terminationMessagePath: '/dev/termination-log',
            terminationMessagePolicy: 'File',
          },
        ],
      },
    };
    const set = statefulSet({ template: full });
    expect(revisionWrites(serverOf(set, lacking))).toEqual([]);
    const server = serverOf(set, lacking);
    const without = { ...CONFIG, semanticRevisions: false };
    expect(writesOf(server.sync(without))).toContain('createRevision 2');
    const buried = serverOf(set, lacking, stored('b', 2, 'app:2'));
    expect(revisionWrites(buried)).toEqual(['createRevision 3']);
  });

  test('whose name is taken by the same data is that one, which the cache did not show', () => {
    const server = new Server(statefulSet());
    server.refuse = (action) => {
      if (action.kind === 'createRevision') {
        server.revisions.put(stored(action.revision.metadata.name, 1, 'app:1'));
      }
      return undefined;
    };
    server.sync();
    expect(server.set.status).toMatchObject({ collisionCount: 0 });
    expect([...server.revisions.keys()]).toEqual([server.set.status!.updateRevision!]);
  });
});

test('a long name of a set is cut', () => {
  expect(revisionName('w'.repeat(250), 'abc')).toBe(`${'w'.repeat(223)}-abc`);
});

describe('the current revision', () => {
  test('is that of the status, or the update revision if it is gone', () => {
    const status = { replicas: 0, currentRevision: 'a' };
    const set = statefulSet({ status });
    const server = serverOf(set, stored('a', 1, 'app:0'), stored('b', 2, 'app:1'));
    server.sync();
    expect(server.set.status).toMatchObject({ currentRevision: 'a', updateRevision: 'b' });
    const lost = serverOf(set, stored('b', 2, 'app:1'));
    lost.sync();
    expect(lost.set.status).toMatchObject({ currentRevision: 'b', updateRevision: 'b' });
  });
});

describe('the history', () => {
  const revisions = [1, 2, 3, 4].map((number) => stored(`r${number}`, number, `app:${number}`));

  test.each([
    [10, []],
    [2, ['deleteRevision r1']],
    [1, ['deleteRevision r1', 'deleteRevision r2']],
    [0, ['deleteRevision r1', 'deleteRevision r2', 'deleteRevision r3']],
    [-1, []],
  ])('a limit of %p keeps so many beside those in use', (revisionHistoryLimit, deleted) => {
    const set = statefulSet({ revisionHistoryLimit, template: template('app:4') });
    expect(revisionWrites(serverOf(set, ...revisions))).toEqual(deleted);
  });

  test('what pods and the status use stays', () => {
    const status = { replicas: 0, currentRevision: 'r1' };
    const set = statefulSet({ revisionHistoryLimit: 0, template: template('app:4'), status });
    const server = serverOf(set, ...revisions);
    server.pods.put(pod(0, { revision: 'r2' }));
    expect(revisionWrites(server)).toEqual(['deleteRevision r3']);
  });

  test('one that is gone already is no error; it is cut also after an error', () => {
    const set = statefulSet({ revisionHistoryLimit: 1, template: template('app:4') });
    const server = serverOf(set, ...revisions);
    server.refuse = (action) => {
      if (action.kind === 'deleteRevision' && action.revision.metadata.name === 'r1') {
        return refusal(404, 'NotFound');
      }
      return action.kind === 'createPod' ? refusal(403, 'Forbidden', 'no') : undefined;
    };
    const { actions, error } = server.trySync();
    expect(writesOf(actions).filter((write) => /deleteRevision/.test(write))).toHaveLength(2);
    expect(error?.message).toBe('no');
  });
});

describe('collisions', () => {
  test('each taken name counts one on, and the count is kept in the status', () => {
    const server = new Server(statefulSet());
    const tried: string[] = [];
    let stranger: ControllerRevision | undefined;
    server.refuse = (action) => {
      if (action.kind !== 'createRevision' || tried.length === 2) return undefined;
      const { name } = action.revision.metadata;
      tried.push(name);
      stranger = stored(name, 1, 'app:9');
      server.revisions.put(stranger);
      return undefined;
    };
    server.sync();
    expect(tried).toHaveLength(2);
    expect(server.set.status).toMatchObject({ collisionCount: 2 });
    const name = server.set.status!.updateRevision!;
    expect(tried).not.toContain(name);
    const hash = server.revisions.get(name)?.metadata.labels?.['controller.kubernetes.io/hash'];
    expect(tried[0]).toBe(`web-${hash}`);
  });
});
