import { expect, test } from 'bun:test';
import { ApiError, isConflict } from '../api/errors.ts';
import { LEASES } from '../api/resource.ts';
import type { Lease } from '../api/types/index.ts';
import type { KubeClient } from '../kube/types.ts';
import { leaseLock, leaseReference } from './lock.ts';
import type { ElectionRecord } from './term.ts';

const AT = { namespace: 'kube-system', name: 'kube-controller-manager' };
const LIMITS = { timeoutMs: 5_000, signal: new AbortController().signal };
const RECORD: ElectionRecord = {
  holderIdentity: 'me',
  leaseDurationSeconds: 15,
  acquireTime: '2026-01-01T00:00:00.000000Z',
  renewTime: '2026-01-01T00:00:00.000000Z',
  leaseTransitions: 0,
};

interface Call {
  readonly verb: string;
  readonly at: object;
  readonly body: Partial<Lease> | undefined;
  readonly limits: object | undefined;
}

/** A client that gives the answers in order and notes what it was asked. */
function scripted(answers: readonly (object | Error)[]) {
  const calls: Call[] = [];
  const answer = async (verb: string, at: object, body?: object, limits?: object) => {
    const next = answers[calls.length];
    calls.push({ verb, at, body: body as Partial<Lease> | undefined, limits });
    if (next instanceof Error) throw next;
    return next;
  };
  const client = {
    get: (resource: object, at: object, limits: object) => {
      expect(resource).toBe(LEASES);
      return answer('get', at, undefined, limits);
    },
    create: (_resource: object, at: object, body: object, limits: object) =>
      answer('create', at, body, limits),
    update: (_resource: object, at: object, body: object, limits: object) =>
      answer('update', at, body, limits),
  } as unknown as KubeClient;
  return { lock: leaseLock(client, AT), calls };
}

function stored(spec: object | undefined, version = '5'): object {
  const labels = { team: 'a' };
  return { metadata: { ...AT, uid: 'uid', resourceVersion: version, labels }, spec };
}

function failure(code: number, reason: string): ApiError {
  return new ApiError(code, reason, { reason } as ApiError['status']);
}

test('a Lease that is not there is no error', async () => {
  const { lock } = scripted([failure(404, 'NotFound')]);
  expect(await lock.read(LIMITS)).toBeUndefined();
});

test('reads the record; what is missing is empty', async () => {
  const { lock, calls } = scripted([stored(RECORD), stored({}), stored(undefined)]);
  const seen = { uid: 'uid', resourceVersion: '5' };
  expect(await lock.read(LIMITS)).toEqual({ ...seen, record: RECORD });
  expect(calls[0]).toMatchObject({ at: AT, limits: LIMITS });
  const none = {
    holderIdentity: '',
    leaseDurationSeconds: 0,
    acquireTime: '',
    renewTime: '',
    leaseTransitions: 0,
  };
  expect(await lock.read(LIMITS)).toEqual({ ...seen, record: none });
  expect(await lock.read(LIMITS)).toEqual({ ...seen, record: none });
});

test('creates with the five fields', async () => {
  const { lock, calls } = scripted([stored(RECORD)]);
  await lock.create(RECORD, LIMITS);
  expect(calls[0]?.at).toEqual({ namespace: 'kube-system' });
  expect(calls[0]?.body as object).toEqual({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: AT,
    spec: RECORD,
  });
});

test('updates the object last seen: metadata stays, the spec is written anew', async () => {
  const { lock, calls } = scripted([
    stored({ ...RECORD, strategy: 'OldestEmulationVersion', preferredHolder: 'x' }),
    stored(RECORD, '6'),
    stored(RECORD, '7'),
  ]);
  await lock.read(LIMITS);
  await lock.update(RECORD, LIMITS);
  await lock.update({ ...RECORD, renewTime: '2026-01-01T00:00:02.000000Z' }, LIMITS);
  const [, first, second] = calls;
  expect(first?.body?.spec as object).toEqual(RECORD);
  expect(first?.body?.metadata).toMatchObject({ labels: { team: 'a' }, resourceVersion: '5' });
  expect(second?.body?.metadata?.resourceVersion).toBe('6');
});

test('a conflict passes through and leaves what was last seen', async () => {
  const { lock, calls } = scripted([stored(RECORD), failure(409, 'Conflict'), stored(RECORD)]);
  await lock.read(LIMITS);
  const error: unknown = await lock.update(RECORD, LIMITS).catch((why: unknown) => why);
  expect(isConflict(error)).toBe(true);
  await lock.update(RECORD, LIMITS);
  expect(calls[2]?.body?.metadata?.resourceVersion).toBe('5');
});

test('does not update what it has not seen, nor what is gone', async () => {
  const { lock } = scripted([stored(RECORD), failure(404, 'NotFound')]);
  await expect(lock.update(RECORD, LIMITS)).rejects.toThrow('must be read before');
  await lock.read(LIMITS);
  await lock.read(LIMITS);
  await expect(lock.update(RECORD, LIMITS)).rejects.toThrow('must be read before');
});

test('events refer to the Lease as it was seen', () => {
  expect(leaseReference(AT, { uid: 'uid', resourceVersion: '5', record: RECORD })).toEqual({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    namespace: 'kube-system',
    name: 'kube-controller-manager',
    uid: 'uid',
    resourceVersion: '5',
  });
});
