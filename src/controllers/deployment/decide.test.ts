import { describe, expect, test } from 'bun:test';
import { timeText } from '../../api/time.ts';
import type { DeploymentCondition } from '../../api/types/index.ts';
import { refuseSelector, selectsEverything } from './decide.ts';
import { deployment, NOON, replicaSet, template } from './testing/build.ts';
import { refusal, Server } from './testing/server.ts';
import { eventsOf, inShort, sizesOf } from './testing/steps.ts';

const REVISION = 'deployment.kubernetes.io/revision';
const ROLLBACK = 'deprecated.deployment.rollback.to';
const DESIRED = 'deployment.kubernetes.io/desired-replicas';
const SETTLED = { [REVISION]: '1' };

function progressing(reason: string, status = 'True'): DeploymentCondition {
  const time = timeText(NOON);
  const times = { lastUpdateTime: time, lastTransitionTime: time };
  return { type: 'Progressing', status, reason, message: 'before', ...times };
}

function reasons(server: Server): string[] {
  return (server.deployment.status?.conditions ?? []).map(({ reason = '' }) => reason);
}

describe('an empty selector', () => {
  test.each([
    [{}, true],
    [{ matchLabels: {} }, true],
    [{ matchLabels: { app: 'web' } }, false],
    [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }, false],
  ])('%p selects everything: %p', (selector, expected) => {
    expect(selectsEverything(deployment({ selector }))).toBe(expected);
  });

  test('event, and the generation counts as seen if it was behind', () => {
    const behind = new Server(deployment({ selector: {}, generation: 4 }), [], NOON);
    const actions = behind.play(refuseSelector(behind.deployment));
    expect(inShort(actions)).toEqual(['event SelectingAll', 'updateStatus']);
    expect(eventsOf(actions)).toEqual([
      'This deployment is selecting all pods. A non-empty selector is required.',
    ]);
    expect(behind.deployment.status).toEqual({ observedGeneration: 4 });
    const seen = inShort(behind.play(refuseSelector(behind.deployment)));
    expect(seen).toEqual(['event SelectingAll']);
  });

  test('a refused status write is no error', () => {
    const server = new Server(deployment({ selector: {}, generation: 4 }), [], NOON);
    server.refuse = ({ kind }) => (kind === 'updateStatus' ? refusal(409, 'Conflict') : undefined);
    server.play(refuseSelector(server.deployment));
    expect(server.deployment.status).toBeUndefined();
  });
});

describe('order of a sync', () => {
  const stale = { annotations: { [DESIRED]: '2', [REVISION]: '1' } };

  test('being deleted: the status only', () => {
    const owner = deployment({ deleting: true, paused: true, annotations: { [ROLLBACK]: '1' } });
    const server = new Server(owner, [replicaSet('old', 1, { image: 'old:1', ...stale })], NOON);
    expect(inShort(server.sync())).toEqual(['updateStatus']);
  });

  test('paused: condition, scaling and clean-up, no rollout and no rollback', () => {
    const owner = deployment({
      paused: true,
      progressDeadlineSeconds: 600,
      revisionHistoryLimit: 0,
      annotations: SETTLED,
    });
    const old = replicaSet('old', 1, { image: 'old:1', age: 1, annotations: SETTLED });
    const idle = replicaSet('idle', 0, { image: 'idle:1', age: 2, annotations: SETTLED });
    const server = new Server(owner, [idle, old], NOON);
    expect(inShort(server.sync())).toEqual([
      'updateStatus',
      'scaleReplicaSet old to 3',
      'event ScalingReplicaSet',
      'deleteReplicaSet idle',
      'updateStatus',
    ]);
    expect(server.deployment.status?.conditions).toMatchObject([
      {
        type: 'Progressing',
        status: 'Unknown',
        reason: 'DeploymentPaused',
        message: 'Deployment is paused',
      },
      { type: 'Available' },
    ]);
  });

  test('paused with a rollback asked for: no clean-up', () => {
    const annotations = { [ROLLBACK]: '1' };
    const owner = deployment({ paused: true, revisionHistoryLimit: 0, annotations });
    const server = new Server(owner, [replicaSet('idle', 0, { image: 'idle:1' })], NOON);
    expect(inShort(server.sync())).not.toContain('deleteReplicaSet idle');
  });

  test('a rollback comes before a scaling event', () => {
    const owner = deployment({ annotations: { ...SETTLED, [ROLLBACK]: '7' } });
    const server = new Server(owner, [replicaSet('new', 2, stale)], NOON);
    expect(inShort(server.sync())).toEqual([
      'event DeploymentRollbackRevisionNotFound',
      'updateDeployment',
    ]);
  });

  test('a scaling event comes before the rollout, which waits for the next sync', () => {
    const server = new Server(
      deployment({ annotations: SETTLED }),
      [replicaSet('old', 2, { image: 'old:1', ...stale })],
      NOON,
    );
    expect(inShort(server.sync())).toEqual([
      'scaleReplicaSet old to 3',
      'event ScalingReplicaSet',
      'updateStatus',
    ]);
    expect(inShort(server.sync())[0]).toBe('createReplicaSet of 1');
  });

  test('an invalid desired-replicas annotation is no scaling event', () => {
    const odd = { image: 'old:1', annotations: { [DESIRED]: '-2', [REVISION]: '1' } };
    const server = new Server(deployment(), [replicaSet('old', 3, odd)], NOON);
    expect(inShort(server.sync())[0]).toBe('createReplicaSet of 1');
  });

  test('stale desired-replicas with the right size: refreshed, and the rollout goes on', () => {
    const owner = deployment({ replicas: 2, annotations: SETTLED });
    const annotations = { [DESIRED]: '3', [REVISION]: '1' };
    const old = replicaSet('old', 2, { image: 'old:1', annotations }, owner);
    const server = new Server(owner, [old], NOON);
    expect(inShort(server.sync())).toEqual(['scaleReplicaSet old to 2', 'updateStatus']);
    expect(inShort(server.sync())[0]).toBe('createReplicaSet of 1');
  });

  test("a strategy that doesn't exist fails the sync and says what would be valid", () => {
    const owner = deployment({ annotations: SETTLED });
    const strategy = { type: 'Canary' };
    const odd = { ...owner, spec: owner.spec && { ...owner.spec, strategy } };
    const server = new Server(odd, [replicaSet('new', 3, { annotations: SETTLED }, odd)], NOON);
    expect(() => server.sync()).toThrow(
      'spec.strategy.type of web is "Canary": must be Recreate or RollingUpdate',
    );
  });
});

describe('pause and resume', () => {
  const pass = (paused: boolean, conditions: DeploymentCondition[], deadline = 600) => {
    const owner = deployment({
      paused,
      progressDeadlineSeconds: deadline,
      annotations: SETTLED,
      status: { conditions },
    });
    const server = new Server(owner, [replicaSet('new', 3, { annotations: SETTLED }, owner)], NOON);
    server.sync();
    return reasons(server);
  };

  test.each<[string, boolean, DeploymentCondition[], string]>([
    ['pause is marked', true, [progressing('ReplicaSetUpdated')], 'DeploymentPaused'],
    ['pause is marked without a condition', true, [], 'DeploymentPaused'],
    [
      'pause is marked once',
      true,
      [progressing('DeploymentPaused', 'Unknown')],
      'DeploymentPaused',
    ],
    [
      'pause keeps a timeout',
      true,
      [progressing('ProgressDeadlineExceeded', 'False')],
      'ProgressDeadlineExceeded',
    ],
  ])('%s', (_, paused, conditions, expected) => {
    expect(pass(paused, conditions)).toEqual(expect.arrayContaining([expected]));
  });

  test('resuming is marked, and the rollout goes on in the same sync', () => {
    const before = [progressing('DeploymentPaused', 'Unknown')];
    const owner = deployment({
      progressDeadlineSeconds: 600,
      annotations: SETTLED,
      status: { conditions: before },
    });
    const server = new Server(owner, [replicaSet('old', 3, { image: 'old:1' })], NOON);
    const actions = server.sync();
    expect(inShort(actions)[0]).toBe('updateStatus');
    expect(actions[0]).toMatchObject({
      because: 'Deployment is resumed',
      deployment: { status: { conditions: [{ status: 'Unknown', reason: 'DeploymentResumed' }] } },
    });
    expect(inShort(actions)[1]).toBe('createReplicaSet of 1');
  });

  test('without a deadline nothing is marked', () => {
    expect(pass(true, [], 2 ** 31 - 1)).toEqual(['MinimumReplicasAvailable']);
  });
});

describe('an existing new ReplicaSet', () => {
  test('takes annotations and minReadySeconds over; the revision follows in the same sync', () => {
    const owner = deployment({ minReadySeconds: 5, annotations: { team: 'a' } });
    const server = new Server(owner, [replicaSet('new', 3, {}, owner)], NOON);
    const actions = server.sync();
    expect(inShort(actions)).toEqual(['updateReplicaSet new', 'updateStatus', 'updateStatus']);
    const stored = server.replicaSets.get('new');
    expect(stored?.spec?.minReadySeconds).toBe(5);
    expect(stored?.metadata.annotations).toMatchObject({ team: 'a', [REVISION]: '1' });
    expect(server.deployment.metadata.annotations).toEqual({ team: 'a', [REVISION]: '1' });
    expect(inShort(server.sync())).toEqual([]);
  });

  test('is noted as found only where no Progressing condition is', () => {
    const found = (conditions: DeploymentCondition[]) => {
      const owner = deployment({
        progressDeadlineSeconds: 600,
        annotations: SETTLED,
        status: { observedGeneration: 1, conditions, replicas: 3, updatedReplicas: 3 },
      });
      const one = replicaSet(
        'new',
        3,
        { annotations: SETTLED, status: { availableReplicas: 0, readyReplicas: 0 } },
        owner,
      );
      const server = new Server(owner, [one], NOON);
      server.sync();
      return server.deployment.status?.conditions?.find(({ type }) => type === 'Progressing');
    };
    expect(found([])).toMatchObject({
      status: 'True',
      reason: 'FoundNewReplicaSet',
      message: 'Found new replica set "new"',
    });
    expect(found([progressing('ReplicaSetUpdated')])?.reason).toBe('ReplicaSetUpdated');
  });

  test('an unreadable revision stays as it is and is copied to the Deployment', () => {
    const owner = deployment({ annotations: { team: 'a' } });
    const odd = replicaSet('new', 3, { annotations: { [REVISION]: 'odd' } }, owner);
    const server = new Server(owner, [odd], NOON);
    expect(inShort(server.sync())).not.toContain('updateReplicaSet new');
    expect(server.deployment.metadata.annotations?.[REVISION]).toBe('odd');
  });
});

describe('a settled Deployment', () => {
  test.each([false, true])('recreate %p: a second sync does nothing', (recreate) => {
    const owner = deployment({ recreate, progressDeadlineSeconds: 600, revisionHistoryLimit: 2 });
    const sets = ['a', 'b', 'c'].map((name, age) =>
      replicaSet(name, 0, { age: age + 1, image: name, annotations: SETTLED }, owner),
    );
    const server = new Server(owner, [replicaSet('new', 3, {}, owner), ...sets], NOON);
    server.sync();
    server.sync();
    expect(sizesOf(server)).toEqual({ new: 3, a: 0, b: 0 });
    expect(reasons(server)).toContain('NewReplicaSetAvailable');
    expect(inShort(server.sync())).toEqual([]);
  });

  test('the same observation gives the same steps', () => {
    const run = () => {
      const owner = deployment({ template: template('app:2'), progressDeadlineSeconds: 60 });
      return new Server(owner, [replicaSet('old', 3, {}, owner)], NOON).sync();
    };
    expect(run()).toEqual(run());
  });
});
