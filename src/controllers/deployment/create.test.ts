import { describe, expect, test } from 'bun:test';
import { newerTemplate } from '../../api/testing/newer.ts';
import { newReplicaSetFor, replicaSetName } from './create.ts';
import { deployment, NOON, replicaSet, template } from './testing/build.ts';
import { refusal, Server } from './testing/server.ts';
import { eventsOf, inShort } from './testing/steps.ts';

const REVISION = 'deployment.kubernetes.io/revision';

describe('the name', () => {
  test.each([
    ['web', 'web'],
    ['a'.repeat(242), 'a'.repeat(242)],
    ['a'.repeat(250), 'a'.repeat(242)],
  ])('%p', (name, kept) => {
    expect(replicaSetName(name, '1234567890')).toBe(`${kept}-1234567890`);
  });
});

describe('a created ReplicaSet', () => {
  const owner = deployment({
    replicas: 10,
    maxSurge: 3,
    minReadySeconds: 7,
    annotations: { team: 'a', [REVISION]: '4' },
    selector: { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'x', operator: 'Exists' }] },
  });

  test('has the template, the hash in labels and selector, the owner, and its annotations', () => {
    const made = newReplicaSetFor(owner, [replicaSet('old', 9)], 5n);
    const hash = made.metadata.labels?.['pod-template-hash'] ?? '';
    expect(hash).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{8,10}$/);
    expect(made).toEqual({
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: {
        name: `web-${hash}`,
        namespace: 'default',
        labels: { app: 'web', 'pod-template-hash': hash },
        annotations: {
          team: 'a',
          [REVISION]: '5',
          'deployment.kubernetes.io/desired-replicas': '10',
          'deployment.kubernetes.io/max-replicas': '13',
        },
        ownerReferences: [
          {
            apiVersion: 'apps/v1',
            kind: 'Deployment',
            name: 'web',
            uid: 'deployment-uid',
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: {
        replicas: 4,
        minReadySeconds: 7,
        selector: {
          matchLabels: { app: 'web', 'pod-template-hash': hash },
          matchExpressions: [{ key: 'x', operator: 'Exists' }],
        },
        template: {
          ...template(),
          metadata: { labels: { app: 'web', 'pod-template-hash': hash } },
        },
      },
    });
  });

  test('lacks what only a newer API server knows of the template', () => {
    const { spec } = owner;
    const newer = spec && { ...owner, spec: { ...spec, template: newerTemplate(spec.template) } };
    expect(newReplicaSetFor(newer ?? owner, [], 5n)).toEqual(newReplicaSetFor(owner, [], 5n));
  });

  test('the collision count changes the hash, nothing else does', () => {
    const name = (collisionCount?: number) =>
      newReplicaSetFor({ ...owner, status: { collisionCount } }, [], 1n).metadata.name;
    expect(new Set([name(), name(0), name(1), name(2)]).size).toBe(4);
    expect(newReplicaSetFor(owner, [replicaSet('old', 9)], 7n).metadata.name).toBe(name());
  });
});

describe('creating', () => {
  test('event, revision and condition follow', () => {
    const server = new Server(deployment({ progressDeadlineSeconds: 600 }), [], NOON);
    const actions = server.sync();
    expect(inShort(actions).slice(0, 3)).toEqual([
      'createReplicaSet of 3',
      'event ScalingReplicaSet',
      'updateStatus',
    ]);
    const [name] = [...server.replicaSets.keys()];
    expect(eventsOf(actions)).toEqual([`Scaled up replica set ${name} from 0 to 3`]);
    expect(server.deployment.metadata.annotations).toEqual({ [REVISION]: '1' });
    expect(server.deployment.status?.conditions?.[0]).toMatchObject({
      type: 'Progressing',
      status: 'True',
      reason: 'NewReplicaSetCreated',
      message: `Created new replica set "${name}"`,
    });
  });

  test('of size 0 there is no event', () => {
    const old = replicaSet('old', 3, { image: 'old:1' });
    const server = new Server(deployment({ maxSurge: 0, maxUnavailable: 1 }), [old], NOON);
    const steps = inShort(server.sync());
    expect(steps.slice(0, 2)).toEqual(['createReplicaSet of 0', 'updateStatus']);
  });

  test('the revision is one above the old ones', () => {
    const annotations = { [REVISION]: '41' };
    const old = replicaSet('old', 3, { image: 'old:1', annotations });
    const server = new Server(deployment(), [old], NOON);
    server.sync();
    expect(server.deployment.metadata.annotations).toEqual({ [REVISION]: '42' });
  });
});

describe('a refused creation', () => {
  const refusing = (error: ReturnType<typeof refusal>, deadline = 600) => {
    const server = new Server(deployment({ progressDeadlineSeconds: deadline }), [], NOON);
    server.refuse = ({ kind }) => (kind === 'createReplicaSet' ? error : undefined);
    return server;
  };

  test('is shown as condition and event, and fails the sync', () => {
    const server = refusing(refusal(403, 'Forbidden', 'exceeded quota'));
    expect(() => server.sync()).toThrow('exceeded quota');
    expect(inShort(server.actions)).toEqual([
      'createReplicaSet of 3',
      'updateStatus',
      'event ReplicaSetCreateError',
    ]);
    const [created] = server.actions;
    const name = created?.kind === 'createReplicaSet' ? created.replicaSet.metadata.name : '';
    const message = `Failed to create new replica set "${name}": exceeded quota`;
    expect(eventsOf(server.actions)).toEqual([message]);
    expect(server.deployment.status?.conditions).toMatchObject([
      { type: 'Progressing', status: 'False', reason: 'ReplicaSetCreateError', message },
    ]);
  });

  test('without a deadline only the event tells', () => {
    const server = refusing(refusal(403, 'Forbidden'), 2 ** 31 - 1);
    expect(() => server.sync()).toThrow();
    expect(inShort(server.actions).slice(1)).toEqual(['event ReplicaSetCreateError']);
  });

  test('a terminating namespace is told to nobody', () => {
    const error = refusal(403, 'Forbidden');
    const causes = [{ reason: 'NamespaceTerminating' }];
    Object.assign(error, { status: { details: { causes } } });
    const server = refusing(error);
    expect(() => server.sync()).toThrow();
    expect(inShort(server.actions)).toEqual(['createReplicaSet of 3']);
  });
});

describe('a taken name', () => {
  /** What the Deployment's ReplicaSet would be called and look like. */
  const made = () => {
    const server = new Server(deployment(), [], NOON);
    server.sync();
    return [...server.replicaSets.values()][0]!;
  };
  const behind = (change: (taken: ReturnType<typeof made>) => ReturnType<typeof made>) => {
    const server = new Server(deployment({ progressDeadlineSeconds: 600 }), [], NOON);
    const taken = change(made());
    server.refuse = ({ kind }) => {
      if (kind !== 'createReplicaSet' || server.replicaSets.size > 0) return undefined;
      server.replicaSets.set(taken.metadata.name, taken);
      return refusal(409, 'AlreadyExists', 'taken');
    };
    return server;
  };

  test('by our own with this template: it is the new one, without event and condition', () => {
    const server = behind((taken) => taken);
    const steps = inShort(server.sync());
    expect(steps).toEqual([
      'createReplicaSet of 3',
      'readReplicaSet',
      'updateStatus',
      'updateStatus',
    ]);
    const conditions = server.deployment.status?.conditions ?? [];
    expect(conditions.map(({ reason }) => reason)).not.toContain('NewReplicaSetCreated');
    expect(server.deployment.metadata.annotations).toEqual({ [REVISION]: '1' });
  });

  test('by a stranger: the collision count goes up, and the next try takes another name', () => {
    const server = behind((taken) => ({
      ...taken,
      metadata: { ...taken.metadata, ownerReferences: [] },
    }));
    expect(() => server.sync()).toThrow('taken');
    expect(inShort(server.actions)).toEqual([
      'createReplicaSet of 3',
      'readReplicaSet',
      'updateStatus',
    ]);
    expect(server.deployment.status?.collisionCount).toBe(1);
    const stranger = [...server.replicaSets.keys()];
    const { deployment: seen, now } = server;
    const next = new Server(seen, [], now);
    next.sync();
    expect([...next.replicaSets.keys()]).not.toEqual(stranger);
  });

  test('by our own with another template: a collision too', () => {
    const server = behind((taken) => ({
      ...taken,
      spec: taken.spec && { ...taken.spec, template: template('other:1') },
    }));
    expect(() => server.sync()).toThrow('taken');
    expect(server.deployment.status?.collisionCount).toBe(1);
  });

  test("by one that the cache doesn't show: the sync fails and nothing is written", () => {
    const server = new Server(deployment(), [], NOON);
    server.refuse = ({ kind }) =>
      kind === 'createReplicaSet' ? refusal(409, 'AlreadyExists', 'taken') : undefined;
    expect(() => server.sync()).toThrow("cache doesn't show it yet");
    expect(inShort(server.actions)).toEqual(['createReplicaSet of 3', 'readReplicaSet']);
  });
});
