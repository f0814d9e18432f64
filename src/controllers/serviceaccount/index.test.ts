import { describe, expect, test } from 'bun:test';
import { ApiError } from '../../api/errors.ts';
import { NAMESPACES, SERVICE_ACCOUNTS } from '../../api/resource.ts';
import type { Namespace, ServiceAccount } from '../../api/types/index.ts';
import { fakeContext } from '../_kit/testing/fake-context.ts';
import { FakeRun, refusal } from '../_kit/testing/fake-run.ts';
import { serviceAccountController } from './index.ts';

function namespace(phase = 'Active', resourceVersion = '1'): Namespace {
  return {
    metadata: { name: 'team', uid: 'u', resourceVersion },
    status: { phase },
  };
}

function account(name: string): ServiceAccount {
  return { metadata: { name, namespace: 'team', uid: name, resourceVersion: '1' } };
}

function setUp() {
  const { context, informers, queues } = fakeContext({ now: 0 });
  const namespaces = informers.of<Namespace>(NAMESPACES);
  const accounts = informers.of<ServiceAccount>(SERVICE_ACCOUNTS);
  const [definition] = serviceAccountController.build(context)!.queues;
  const run = new FakeRun(0);
  return {
    namespaces,
    accounts,
    run,
    queue: queues.get('serviceaccount')!,
    workers: definition!.workers,
    sync: () => definition!.reconcile('team', run),
  };
}

describe('what queues a namespace', () => {
  test('its coming and changing, and the deletion of any of its ServiceAccounts', () => {
    const { namespaces, accounts, queue, workers } = setUp();
    expect(workers).toBe(1);
    namespaces.put(namespace());
    expect(queue.drain()).toEqual(['team']);
    namespaces.put(namespace('Active', '2'));
    expect(queue.drain()).toEqual(['team']);
    accounts.put(account('other'));
    expect(queue.drain()).toEqual([]);
    accounts.remove(account('other'));
    expect(queue.drain()).toEqual(['team']);
  });
});

describe('a sync', () => {
  test('creates the missing ServiceAccount "default"', async () => {
    const { namespaces, accounts, run, sync } = setUp();
    namespaces.put(namespace());
    accounts.put(account('other'));
    await sync();
    expect(run.writes).toMatchObject([
      {
        verb: 'create',
        resource: 'serviceaccounts',
        key: 'team/default',
        body: {
          apiVersion: 'v1',
          kind: 'ServiceAccount',
          metadata: { name: 'default', namespace: 'team' },
        },
        because: 'namespace team is Active and has no ServiceAccount default',
      },
    ]);
  });

  test.each<[string, Namespace | undefined, ServiceAccount[]]>([
    ['it is there', namespace(), [account('default')]],
    ['the namespace is going', namespace('Terminating'), []],
    ['the namespace is gone', undefined, []],
  ])('writes nothing if %s', async (_, stored, present) => {
    const { namespaces, accounts, run, sync } = setUp();
    if (stored !== undefined) namespaces.put(stored);
    accounts.put(...present);
    await sync();
    expect(run.writes).toEqual([]);
  });

  test('takes "exists already" and a terminating namespace as done, and fails otherwise', async () => {
    const causes = [{ reason: 'NamespaceTerminating' }];
    const { namespaces, run, sync } = setUp();
    namespaces.put(namespace());
    run.failNext('create', refusal(409, 'AlreadyExists'));
    await sync();
    run.failNext('create', new ApiError(403, 'is being terminated', { details: { causes } }));
    await sync();
    run.failNext('create', refusal(403, 'Forbidden', 'not allowed'));
    await expect(sync()).rejects.toThrow('not allowed');
  });
});
