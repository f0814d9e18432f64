import { describe, expect, test } from 'bun:test';
import { CLUSTER_ROLES } from '../../api/resource.ts';
import type { ClusterRole } from '../../api/types/index.ts';
import { fakeContext } from '../_kit/testing/fake-context.ts';
import { FakeRun, refusal } from '../_kit/testing/fake-run.ts';
import { clusterRoleAggregationController } from './index.ts';

const VERBS = { verbs: ['get'], apiGroups: [''] };

function role(name: string, fields: Partial<ClusterRole> = {}, labels = {}): ClusterRole {
  const metadata = { name, uid: `uid-${name}`, resourceVersion: '1', labels };
  return { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata, ...fields };
}

function sum(name: string, ...teams: string[]): ClusterRole {
  const clusterRoleSelectors = teams.map((team) => ({ matchLabels: { team } }));
  return role(name, { aggregationRule: { clusterRoleSelectors } });
}

function giver(name: string, team: string, resource: string): ClusterRole {
  return role(name, { rules: [{ ...VERBS, resources: [resource] }] }, { team });
}

function setUp() {
  const { context, informers, queues } = fakeContext({ now: 0 });
  const roles = informers.of<ClusterRole>(CLUSTER_ROLES);
  const [definition] = clusterRoleAggregationController.build(context)!.queues;
  const run = new FakeRun(0);
  return {
    roles,
    run,
    queue: queues.get('ClusterRoleAggregator')!,
    workers: definition!.workers,
    sync: (key: string) => definition!.reconcile(key, run),
  };
}

describe('what queues a role', () => {
  test('any change of any role queues all that have an aggregationRule', () => {
    const { roles, queue, workers } = setUp();
    expect(workers).toBe(5);
    roles.put(sum('one', 'a'), sum('two', 'b'));
    queue.drain();
    roles.put(giver('x', 'c', 'pods'));
    expect(queue.drain()).toEqual(['one', 'two']);
    roles.put(giver('x', 'd', 'pods'));
    expect(queue.drain()).toEqual(['one', 'two']);
    roles.remove(giver('x', 'd', 'pods'));
    expect(queue.drain()).toEqual(['one', 'two']);
    roles.put(role('two'));
    expect(queue.drain()).toEqual(['one']);
  });
});

describe('a sync', () => {
  test('applies by force, under its own name, selector after selector and by name', async () => {
    const { roles, run, sync } = setUp();
    roles.put(giver('z', 'a', 'pods'), giver('c', 'b', 'nodes'), giver('b', 'a', 'secrets'));
    roles.put(sum('sum', 'b', 'a'));
    await sync('sum');
    expect(run.writes).toEqual([
      expect.objectContaining({
        verb: 'patch',
        resource: 'clusterroles.rbac.authorization.k8s.io',
        key: 'sum',
        body: {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'ClusterRole',
          metadata: { name: 'sum', uid: 'uid-sum' },
          rules: ['nodes', 'secrets', 'pods'].map((resource) => ({
            ...VERBS,
            resources: [resource],
          })),
        },
        because: '3 matching roles give 3 rules, the role has 0',
      }),
    ]);
  });

  test('sends no rules at all if there are none', async () => {
    const { roles, run, sync } = setUp();
    roles.put({ ...sum('sum', 'a'), rules: [VERBS] });
    await sync('sum');
    expect(run.writes[0]?.body).not.toHaveProperty('rules');
  });

  test('leaves alone what is right, gone, or not made of others', async () => {
    const { roles, run, sync } = setUp();
    roles.put(sum('sum', 'a'), role('plain', { rules: [VERBS] }));
    for (const key of ['sum', 'plain', 'gone']) await sync(key);
    expect(run.writes).toEqual([]);
  });

  test('fails with a selector that can not be read, and with a refusal', async () => {
    const { roles, run, sync } = setUp();
    const bad = [{ matchExpressions: [{ key: 'team', operator: 'Is' }] }];
    roles.put(role('bad', { aggregationRule: { clusterRoleSelectors: bad } }));
    await expect(sync('bad')).rejects.toThrow('"Is" is not a valid label selector operator');
    roles.put(giver('x', 'a', 'pods'), sum('sum', 'a'));
    run.failNext('patch', refusal(403, 'Forbidden', 'may not escalate'));
    await expect(sync('sum')).rejects.toThrow('may not escalate');
  });
});
