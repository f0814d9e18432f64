import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  controllerOf,
  controllerReference,
  generateNameFor,
  keyOf,
  sameController,
  sameMap,
  splitKey,
} from './meta.ts';
import { recordFields } from './record.ts';
import { NODES, REPLICA_SETS } from './resource.ts';
import type { KubeObject } from './types/index.ts';

const OWNER = { name: 'web', uid: 'u-1' };

function object(metadata: Partial<KubeObject['metadata']>): KubeObject {
  return { metadata: { name: 'n', uid: 'u', resourceVersion: '1', ...metadata } };
}

describe('keys', () => {
  test('with and without a namespace', () => {
    expect(keyOf({ namespace: 'ns', name: 'n' })).toBe('ns/n');
    expect(keyOf({ name: 'n' })).toBe('n');
    expect(keyOf({ namespace: '', name: 'n' })).toBe('n');
  });

  test('splitting gives back what was joined', () => {
    const word = fc.stringMatching(/^[a-z0-9.-]{1,20}$/);
    fc.assert(
      fc.property(fc.oneof(word, fc.constant('')), word, (namespace, name) => {
        expect(splitKey(keyOf({ namespace, name }))).toEqual({ namespace, name });
      }),
    );
  });
});

describe('controllers', () => {
  test('the reference names group, version, kind and blocks deletion', () => {
    expect(controllerReference(OWNER, REPLICA_SETS)).toEqual({
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      name: 'web',
      uid: 'u-1',
      controller: true,
      blockOwnerDeletion: true,
    });
  });

  test('only a reference with controller=true is the controller', () => {
    const mere = { ...controllerReference(OWNER, NODES), controller: false };
    const controller = controllerReference(OWNER, REPLICA_SETS);
    expect(controllerOf(object({ ownerReferences: [mere, controller] }))).toEqual(controller);
    expect(controllerOf(object({ ownerReferences: [mere] }))).toBeUndefined();
    expect(controllerOf(object({}))).toBeUndefined();
  });

  test('are the same if kind, name and UID are', () => {
    const one = { kind: 'ReplicaSet', name: 'web', uid: 'u-1' };
    expect(sameController(one, { ...one })).toBe(true);
    expect(sameController(undefined, undefined)).toBe(true);
    expect(sameController(one, undefined)).toBe(false);
    expect(sameController(undefined, one)).toBe(false);
    expect(sameController(one, { ...one, uid: 'u-2' })).toBe(false);
    expect(sameController(one, { ...one, kind: 'Job' })).toBe(false);
    expect(sameController(one, { ...one, name: 'x' })).toBe(false);
  });
});

describe('maps and names', () => {
  test.each([
    [{}, {}, true],
    [{ a: '1', b: '2' }, { b: '2', a: '1' }, true],
    [{ a: '1' }, { a: '2' }, false],
    [{ a: '1' }, { b: '1' }, false],
    [{ a: '1' }, { a: '1', b: '2' }, false],
    [{}, { toString: 'x' }, false],
  ])('%j and %j are the same: %p', (a, b, answer) => {
    expect(sameMap(a as Record<string, string>, b as Record<string, string>)).toBe(answer);
    expect(sameMap(b as Record<string, string>, a as Record<string, string>)).toBe(answer);
  });

  test('pods of an owner are named after it', () => {
    expect(generateNameFor('web')).toBe('web-');
  });
});

describe('records', () => {
  test('of a namespaced object with a controller, being deleted', () => {
    const stored = object({
      namespace: 'ns',
      labels: { a: '1' },
      deletionTimestamp: '2026-01-01T00:00:00Z',
      ownerReferences: [controllerReference(OWNER, REPLICA_SETS)],
    });
    expect(recordFields(stored)).toEqual({
      key: 'ns/n',
      namespace: 'ns',
      name: 'n',
      uid: 'u',
      resourceVersion: '1',
      labels: { a: '1' },
      controller: { kind: 'ReplicaSet', name: 'web', uid: 'u-1' },
      deleting: true,
    });
  });

  test('of a bare cluster-scoped object', () => {
    const record = recordFields(object({}));
    expect(record).toMatchObject({ key: 'n', namespace: '', labels: {}, deleting: false });
    expect(record.controller).toBeUndefined();
  });
});
