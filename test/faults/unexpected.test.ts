import { expect, test } from 'bun:test';
import { unexpectedIn } from './unexpected.ts';

const POD = '/api/v1/namespaces/default/pods';

test('errors inside the process and refused requests are told', () => {
  const log = [
    'E1130 Reconcile failed and will be tried again: ApiError: rig fault 500',
    "E1130 Reconcile failed and will be tried again: TypeError: Can't read 'spec' of undefined",
    'E1130 store SQLiteError: UNIQUE constraint failed: objects.key',
  ].join('\n');
  const seen = [
    { method: 'POST', path: `${POD}?fieldManager=x`, status: 422, faulted: false },
    { method: 'POST', path: `${POD}?fieldManager=y`, status: 422, faulted: false },
  ];
  expect(unexpectedIn(log, seen)).toEqual([
    expect.stringContaining('TypeError'),
    expect.stringContaining('UNIQUE'),
    `422 for POST ${POD}`,
  ]);
});

test('what faults explain is not', () => {
  const log = 'W1130 reflector List or watch failed {"error":"connection reset"}';
  const seen = [
    { method: 'GET', path: POD, status: 422, faulted: true },
    { method: 'PUT', path: `${POD}/a`, status: 409, faulted: false },
    { method: 'DELETE', path: `${POD}/a`, status: 404, faulted: false },
    { method: 'GET', path: POD, faulted: false },
  ];
  expect(unexpectedIn(log, seen)).toEqual([]);
});
