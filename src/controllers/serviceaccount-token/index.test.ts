import { describe, expect, test } from 'bun:test';
import { FencedError } from '../../api/errors.ts';
import { SECRETS, SERVICE_ACCOUNTS } from '../../api/resource.ts';
import type { KubeObject, Secret, ServiceAccount } from '../../api/types/index.ts';
import { fakeContext } from '../_kit/testing/fake-context.ts';
import { FakeRun, refusal } from '../_kit/testing/fake-run.ts';
import { serviceAccountTokenController } from './index.ts';

const PEM = 'the bundle';
const TYPE = 'kubernetes.io/service-account-token';
const encode = (text: string): string => Buffer.from(text).toString('base64');
const RIGHT = { token: encode('t'), namespace: encode('team'), 'ca.crt': encode(PEM) };
const NAME = 'kubernetes.io/service-account.name';
const UID = 'kubernetes.io/service-account.uid';

function account(name = 'robot', uid = `uid-${name}`, secrets?: readonly string[]): ServiceAccount {
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name, namespace: 'team', uid, resourceVersion: '1' },
    secrets: secrets?.map((secret) => ({ name: secret })),
  };
}

interface Facts {
  readonly name?: string;
  readonly uid?: string;
  readonly version?: string;
  readonly type?: string;
  readonly annotations?: Record<string, string>;
  readonly data?: Record<string, string>;
}

function secret(facts: Facts = {}): Secret {
  const {
    name = 'key',
    uid = `uid-${name}`,
    version = '5',
    annotations = { [NAME]: 'robot' },
  } = facts;
  const metadata = { name, namespace: 'team', uid, resourceVersion: version, annotations };
  return { apiVersion: 'v1', kind: 'Secret', type: facts.type ?? TYPE, metadata, data: facts.data };
}

/** As a cache holds it: no data, a digest of it. */
function cached(whole: Secret): Secret {
  const { data, ...rest } = whole;
  const text = JSON.stringify(data);
  return { ...rest, ...(data === undefined ? {} : { dataDigest: text }) } as Secret;
}

function setUp(rootCaPem = PEM) {
  const fakes = fakeContext({ now: 0, flags: { 'concurrent-serviceaccount-token-syncs': 3 } });
  const { context, informers, memory } = fakes;
  const signed: object[] = [];
  const tokenSigner = {
    sign: (claims: Readonly<Record<string, string>>) => {
      signed.push(claims);
      return 'signed';
    },
  };
  const [accountQueue, secretQueue] = ['accounts', 'secrets'].map(() => new Added());
  const made = [accountQueue!, secretQueue!];
  const stored: (string | undefined)[] = [];
  const built = serviceAccountTokenController.build({
    ...context,
    rootCaPem,
    tokenSigner,
    queue: (name, options) => {
      expect(name).toBe('serviceaccount_tokens_service');
      stored.push(options?.storedAs);
      return made[stored.length - 1]!;
    },
  })!;
  const run = new FakeRun(0);
  return {
    accounts: informers.of<ServiceAccount>(SERVICE_ACCOUNTS),
    secrets: informers.of<Secret>(SECRETS),
    accountQueue: accountQueue!,
    secretQueue: secretQueue!,
    definitions: built.queues,
    clock: fakes.clock,
    errors: fakes.errors,
    stored,
    signed,
    memory,
    run,
    syncAccount: (key: string) => built.queues[0]!.reconcile(key, run),
    sync: (key: string) => built.queues[1]!.reconcile(key, run),
  };
}

class Added {
  readonly name = 'serviceaccount_tokens_service';
  #keys = new Set<string>();
  add(key: string): void {
    this.#keys.add(key);
  }
  addAfter(): void {}
  addRateLimited(): void {}
  forget(): void {}
  failures(): number {
    return 0;
  }
  drain(): string[] {
    const keys = [...this.#keys].sort();
    this.#keys.clear();
    return keys;
  }
}

const KEY = 'team/key/uid-key/robot/';

describe('the passport', () => {
  test('without a private key it is not started', () => {
    const { idle } = serviceAccountTokenController;
    expect(idle?.({ 'service-account-private-key-file': '' })).toBe('there is no private key');
    expect(idle?.({ 'service-account-private-key-file': '/key' })).toBeUndefined();
  });

  test('two queues of one name, remembered apart, given up after ten retries', () => {
    const { definitions, stored } = setUp();
    expect(definitions.map(({ workers, retriesMax }) => [workers, retriesMax])).toEqual([
      [3, 10],
      [3, 10],
    ]);
    expect(new Set(stored).size).toBe(2);
  });
});

describe('what queues', () => {
  test('accounts: any event, under their UID', () => {
    const { accounts, accountQueue } = setUp();
    accounts.put(account());
    accounts.put(account('robot', 'other'));
    accounts.remove(account('robot', 'other'));
    expect(accountQueue.drain()).toEqual(['team/robot/other', 'team/robot/uid-robot']);
  });

  test('Secrets of the type, with the account they name; a deletion only if it was seen', () => {
    const { secrets, secretQueue } = setUp();
    secrets.put(secret({ type: 'Opaque' }));
    expect(secretQueue.drain()).toEqual([]);
    secrets.put(secret({ annotations: { [NAME]: 'a/b', [UID]: 'x y' } }));
    expect(secretQueue.drain()).toEqual(['team/key/uid-key/a%2Fb/x%20y']);
    secrets.put(secret());
    secretQueue.drain();
    secrets.remove(secret());
    expect(secretQueue.drain()).toEqual([KEY]);
    secrets.put(secret());
    secretQueue.drain();
    secrets.remove(secret(), true);
    expect(secretQueue.drain()).toEqual([]);
  });
});

describe('a Secret', () => {
  test('is filled over what the server has now', async () => {
    const { accounts, secrets, run, sync, signed } = setUp();
    const live = secret({ data: { own: 'AA==' } });
    accounts.put(account());
    secrets.put(cached(live));
    run.live(SECRETS, live);
    await sync(KEY);
    expect(signed).toHaveLength(1);
    expect(run.writes).toEqual([
      expect.objectContaining({
        verb: 'update',
        resource: 'secrets',
        key: 'team/key',
        because:
          'it has no token and no namespace, it has no ca.crt; ServiceAccount robot is there',
      }),
    ]);
    expect(run.writes[0]?.body).toMatchObject({
      metadata: { resourceVersion: '5', annotations: { [NAME]: 'robot', [UID]: 'uid-robot' } },
      data: { ...RIGHT, token: encode('signed'), own: 'AA==' },
    });
  });

  test('is not touched if the cache lags; the event will come', async () => {
    const { accounts, secrets, run, sync } = setUp();
    accounts.put(account());
    secrets.put(cached(secret()));
    run.live(SECRETS, secret({ version: '6' }));
    await sync(KEY);
    expect(run.writes).toEqual([]);
  });

  test('that was found right is not read again, unless its data or the bundle changed', async () => {
    const { accounts, secrets, run, sync, memory } = setUp();
    const live = secret({ data: RIGHT });
    accounts.put(account());
    secrets.put(cached(live));
    run.live(SECRETS, live);
    await sync(KEY);
    await sync(KEY);
    secrets.put(cached(secret({ data: RIGHT, version: '6' })));
    await sync(KEY);
    expect(run.reads).toHaveLength(1);
    const changed = secret({ data: { ...RIGHT, token: '' }, version: '8' });
    secrets.put(cached(changed));
    run.live(SECRETS, changed);
    await sync(KEY);
    expect(run.reads).toHaveLength(2);
    expect(run.writes).toHaveLength(1);
    expect(memory.all().map(({ value }) => value)).not.toContain(encode('signed'));
    secrets.remove(changed);
    expect(memory.all()).toEqual([]);
  });

  test('that was just filled is known by its version', async () => {
    const { accounts, secrets, run, sync } = setUp();
    accounts.put(account());
    secrets.put(cached(secret()));
    run.live(SECRETS, secret());
    await sync(KEY);
    const version = '1000';
    for (const label of ['a', 'b']) {
      const stored = secret({ data: { ...RIGHT, token: 'x' }, version });
      const labels = { label };
      secrets.put(cached({ ...stored, metadata: { ...stored.metadata, labels } }));
      await sync(KEY);
    }
    expect(run.reads).toHaveLength(1);
  });

  test.each<[string, unknown]>([
    ['changed meanwhile', refusal(409, 'Conflict')],
    ['gone meanwhile', refusal(404, 'NotFound')],
  ])('that is %s is left', async (_, error) => {
    const { accounts, secrets, run, sync } = setUp();
    accounts.put(account());
    secrets.put(cached(secret()));
    run.live(SECRETS, secret());
    run.failNext('update', error);
    await sync(KEY);
    run.failNext('update', refusal(422, 'Invalid', 'it is immutable'));
    await expect(sync(KEY)).rejects.toThrow('immutable');
  });

  test('goes with its account, which is looked for on the server as well', async () => {
    const { secrets, run, sync } = setUp();
    secrets.put(cached(secret()));
    run.live(SERVICE_ACCOUNTS, account());
    run.live(SECRETS, secret({ data: RIGHT }));
    await sync(KEY);
    expect(run.writes).toEqual([]);
    await sync('team/key/uid-key/robot/another');
    expect(run.writes).toMatchObject(
      [{ verb: 'delete', key: 'team/key', uid: 'uid-key', because: /robot is gone/ }].map(
        ({ because: _, ...rest }) => rest,
      ),
    );
    expect(run.writes[0]?.because).toBe('its ServiceAccount robot is gone');
  });

  test('that names no account is left alone', async () => {
    const { secrets, run, sync } = setUp();
    secrets.put(cached(secret({ annotations: {} })));
    await sync('team/key/uid-key//');
    expect(run.writes).toEqual([]);
  });
});

describe('a Secret that is gone', () => {
  test('is taken out of the list of its account', async () => {
    const { accounts, run, sync } = setUp();
    const live = account('robot', 'uid-robot', ['one', 'key', 'two', 'key']);
    accounts.put(live);
    run.live(SERVICE_ACCOUNTS, live);
    await sync(KEY);
    expect(run.writes).toMatchObject([
      {
        verb: 'update',
        resource: 'serviceaccounts',
        key: 'team/robot',
        body: { secrets: [{ name: 'one' }, { name: 'two' }] },
        because: 'its Secret key is gone',
      },
    ]);
  });

  test.each<[string, KubeObject[]]>([
    ['refers to others only', [account('robot', 'uid-robot', ['one'])]],
    ['is another by now', [account('robot', 'other', ['key'])]],
    ['is gone as well', []],
  ])('changes nothing if the account %s', async (_, live) => {
    const { accounts, run, sync } = setUp();
    accounts.put(account());
    run.live(SERVICE_ACCOUNTS, ...live);
    await sync('team/key/uid-key/robot/uid-robot');
    expect(run.writes).toEqual([]);
  });

  test('is nobody’s business if the account is not in the cache', async () => {
    const { run, sync } = setUp();
    await sync(KEY);
    expect(run.reads).toEqual([]);
  });

  test('conflicts are tried ten times, 100 to 200 ms apart, then it is left', async () => {
    const { accounts, run, sync, clock, errors } = setUp();
    const live = account('robot', 'uid-robot', ['key']);
    accounts.put(live);
    run.live(SERVICE_ACCOUNTS, live);
    for (let i = 0; i < 10; i++) run.failNext('update', refusal(409, 'Conflict', 'changed'));
    const startedAt = clock.monotonic();
    let done = false;
    const syncing = sync(KEY).then(() => {
      done = true;
    });
    while (!done) await clock.advance(50);
    await syncing;
    expect(run.writes).toHaveLength(10);
    expect(clock.monotonic() - startedAt).toBeWithin(900, 2_300);
    expect(errors).toEqual(['Removing secret reference: changed']);
  });

  test('a refusal is left at once, a fence is not', async () => {
    const { accounts, run, sync, errors } = setUp();
    const live = account('robot', 'uid-robot', ['key']);
    accounts.put(live);
    run.live(SERVICE_ACCOUNTS, live);
    run.failNext('update', refusal(403, 'Forbidden', 'no'));
    await sync(KEY);
    expect(errors).toEqual(['Removing secret reference: no']);
    run.failNext('update', new FencedError());
    await expect(sync(KEY)).rejects.toThrow(FencedError);
  });
});

describe('an account', () => {
  test('that is there needs nothing', async () => {
    const { accounts, secrets, run, syncAccount } = setUp();
    accounts.put(account());
    secrets.put(cached(secret()));
    await syncAccount('team/robot/uid-robot');
    expect(run.writes).toEqual([]);
  });

  test('that is gone, or another by now, takes its Secrets with it', async () => {
    const { accounts, secrets, run, syncAccount } = setUp();
    accounts.put(account('robot', 'new'));
    secrets.put(
      cached(secret({ name: 'named' })),
      cached(secret({ name: 'own', annotations: { [NAME]: 'robot', [UID]: 'old' } })),
      cached(secret({ name: 'newer', annotations: { [NAME]: 'robot', [UID]: 'new' } })),
      cached(secret({ name: 'other', annotations: { [NAME]: 'other' } })),
      cached(secret({ name: 'opaque', type: 'Opaque' })),
    );
    await syncAccount('team/robot/old');
    expect(run.writes.map(({ verb, key, uid }) => [verb, key, uid])).toEqual([
      ['delete', 'team/named', 'uid-named'],
      ['delete', 'team/own', 'uid-own'],
    ]);
    expect(run.writes[0]?.because).toBe('ServiceAccount robot is gone');
  });

  test('one Secret that can not be deleted holds up no other', async () => {
    const { secrets, run, syncAccount } = setUp();
    secrets.put(...['a', 'b', 'c', 'd'].map((name) => cached(secret({ name }))));
    run.failNext('delete', refusal(409, 'Conflict'));
    run.failNext('delete', new Error('no answer'));
    run.failNext('delete', new Error('cut'));
    await expect(syncAccount('team/robot/old')).rejects.toThrow('[no answer, cut]');
    expect(run.writes).toHaveLength(4);
    run.failNext('delete', new FencedError());
    await expect(syncAccount('team/robot/old')).rejects.toThrow(FencedError);
    expect(run.writes).toHaveLength(5);
  });
});
