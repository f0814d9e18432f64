/** The revisions of a DaemonSet: found, made, deduplicated, cut. */
import { describe, expect, test } from 'bun:test';
import { parseJson } from '../../api/json.ts';
import type { ControllerRevision } from '../../api/types/index.ts';
import { DAEMON_NUMBERS, templateData } from '../_kit/revisions/data.ts';
import { refusal } from '../_kit/testing/fake-run.ts';
import { daemonSet, node, pod, type SetOptions, template } from './testing/build.ts';
import { Server } from './testing/server.ts';
import { writesOf } from './testing/steps.ts';

/** A stored revision labeled with its own name as hash, unless `labels` say otherwise. */
function stored(
  name: string,
  revision: number,
  image: string,
  labels: Record<string, string> = { 'controller-revision-hash': name },
): ControllerRevision {
  const data = parseJson<object>(templateData(template(image), DAEMON_NUMBERS));
  const metadata = { name, uid: `${name}-uid`, namespace: 'default', resourceVersion: '1', labels };
  return { metadata, data, revision };
}

function serverOf(options: SetOptions, ...revisions: ControllerRevision[]): Server {
  const server = new Server(daemonSet(options), []);
  for (const revision of revisions) server.revisions.set(revision.metadata.name, revision);
  return server;
}

function revisionWrites(server: Server): string[] {
  return writesOf(server.sync()).filter((write) => /Revision|relabel/.test(write));
}

describe('the current revision', () => {
  test('is made with a hash as label and in its name, and the annotations of the set', () => {
    const server = serverOf({ annotations: { team: 'ops' } });
    expect(revisionWrites(server)).toEqual(['createRevision 1']);
    const [made] = server.revisions.values();
    const hash = made!.metadata.labels!['controller-revision-hash']!;
    expect(hash).toMatch(/^[bcdf456789]{1,10}$/);
    expect(made!.metadata).toMatchObject({
      name: `agent-${hash}`,
      namespace: 'default',
      labels: { app: 'agent' },
      annotations: { team: 'ops' },
      ownerReferences: [{ kind: 'DaemonSet', name: 'agent', uid: 'set-uid', controller: true }],
    });
  });

  test('is the one that holds the template; nothing is written if it is the highest', () => {
    expect(revisionWrites(serverOf({}, stored('a', 3, 'x'), stored('b', 4, 'agent:1')))).toEqual(
      [],
    );
  });

  test('is raised above all others', () => {
    const server = serverOf({}, stored('a', 1, 'agent:1'), stored('b', 5, 'x'));
    expect(revisionWrites(server)).toEqual(['patchRevision a to 6']);
  });

  test('a new one is numbered above all others', () => {
    expect(revisionWrites(serverOf({}, stored('b', 5, 'x')))).toEqual(['createRevision 6']);
  });

  test('is the newest if no other holds the bytes and that one restores the template', () => {
    const spec = {
      ...template().spec!,
      dnsPolicy: 'ClusterFirst',
      schedulerName: 'default-scheduler',
      securityContext: {},
      terminationGracePeriodSeconds: 30,
      containers: [
        {
          name: 'agent',
          image: 'agent:1',
          imagePullPolicy: 'IfNotPresent',
          resources: {},
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
        },
      ],
    };
    const full = { ...template(), spec };
    const { metadata, revision } = stored('a', 2, 'agent:1');
    const older = { $patch: 'replace', ...template() };
    const lacking = { metadata, revision, data: { spec: { template: older } } };
    expect(revisionWrites(serverOf({ template: full }, lacking))).toEqual([]);
    const buried = serverOf({ template: full }, lacking, stored('b', 3, 'x'));
    expect(revisionWrites(buried)).toEqual(['createRevision 4']);
  });

  test('one without the hash label gets its own name as one', () => {
    const server = serverOf({}, stored('a', 1, 'agent:1', { app: 'agent' }));
    expect(revisionWrites(server)).toEqual(['patchRevision a to hash a']);
    expect(server.hash).toBe('a');
  });
});

describe('several revisions with the same template', () => {
  test('become the highest one, and pods are labeled for it', () => {
    const server = serverOf({}, stored('a', 1, 'agent:1'), stored('b', 3, 'agent:1'));
    server.nodes.set('n1', node('n1'));
    server.nodes.set('n2', node('n2'));
    server.pods.set('p1', pod('p1', 'n1', { hash: 'a' }));
    server.pods.set('p2', pod('p2', 'n2', { hash: 'b' }));
    expect(writesOf(server.sync())).toEqual(['relabelPod p1', 'deleteRevision a', 'updateStatus']);
    expect([...server.revisions.keys()]).toEqual(['b']);
    expect(server.set.status).toMatchObject({ updatedNumberScheduled: 2 });
  });

  test('one that is gone already is no error', () => {
    const server = serverOf({}, stored('a', 1, 'agent:1'), stored('b', 3, 'agent:1'));
    server.refuse = ({ kind }) =>
      kind === 'deleteRevision' ? refusal(404, 'NotFound') : undefined;
    expect(revisionWrites(server)).toEqual(['deleteRevision a']);
  });
});

describe('a name that is taken', () => {
  function taken(image: string, options: SetOptions = {}): Server {
    const server = serverOf(options);
    server.refuse = (action) => {
      if (action.kind !== 'createRevision') return undefined;
      const { name } = action.revision.metadata;
      if (!server.revisions.has(name)) server.revisions.set(name, stored(name, 1, image));
      return undefined;
    };
    return server;
  }

  test('by the same data is the revision', () => {
    const server = taken('agent:1');
    expect(writesOf(server.sync())).toEqual(['createRevision 1', 'updateStatus']);
    expect(server.set.status?.collisionCount).toBeUndefined();
  });

  test('by other data counts the collision, and the next sync takes another name', () => {
    const server = taken('x');
    const { actions, error } = server.trySync();
    expect(writesOf(actions)).toEqual(['createRevision 1', 'bumpCollisions']);
    expect(error?.message).toMatch(
      /^failed to construct revisions of DaemonSet: "agent-[a-z0-9]+" already exists$/,
    );
    expect(server.set.status?.collisionCount).toBe(1);
    server.refuse = () => undefined;
    server.sync();
    expect(server.revisions.size).toBe(2);
  });

  test('with a stale count only fails: the cache will show the new one', () => {
    const server = taken('x', { status: { collisionCount: 2 } });
    const before = server.set;
    const live = { ...before, status: { ...before.status!, collisionCount: 3 } };
    const from = server.refuse;
    server.refuse = (action) => {
      if (action.kind === 'fetchSet') server.set = live;
      return from(action);
    };
    const { actions, error } = server.trySync();
    expect(writesOf(actions)).toEqual(['createRevision 1']);
    expect(error?.message).toBe(
      'failed to construct revisions of DaemonSet: found a stale collision count (2, expected 3) ' +
        'of DaemonSet "agent" while processing; will retry until it is updated',
    );
  });
});

describe('the history', () => {
  const revisions = [1, 2, 3].map((number) => stored(`r${number}`, number, `x:${number}`));

  test.each([
    [3, []],
    [2, ['deleteRevision r1']],
    [0, ['deleteRevision r1', 'deleteRevision r2', 'deleteRevision r3']],
  ])('a limit of %p keeps so many old ones, the lowest go', (revisionHistoryLimit, deleted) => {
    const server = serverOf({ revisionHistoryLimit }, ...revisions, stored('now', 4, 'agent:1'));
    expect(revisionWrites(server)).toEqual(deleted);
  });

  test('what pods are of stays, also ended ones that are going', () => {
    const limit = { revisionHistoryLimit: 1, onDelete: true };
    const server = serverOf(limit, ...revisions, stored('now', 4, 'agent:1'));
    server.nodes.set('n1', node('n1'));
    server.pods.set('p', pod('p', 'n1', { hash: 'r1', phase: 'Failed', deleting: true }));
    expect(revisionWrites(server)).toEqual(['deleteRevision r2', 'deleteRevision r3']);
  });

  test('a refusal is told with what it was about; the status is written', () => {
    const server = serverOf({ revisionHistoryLimit: 0 }, ...revisions);
    server.refuse = ({ kind }) =>
      kind === 'deleteRevision' ? refusal(403, 'Forbidden', 'no') : undefined;
    const { actions, error } = server.trySync();
    expect(error?.message).toBe('failed to clean up revisions of DaemonSet: no');
    expect(writesOf(actions).at(-1)).toBe('updateStatus');
  });
});
