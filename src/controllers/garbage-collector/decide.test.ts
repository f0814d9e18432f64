import { describe, expect, test } from 'bun:test';
import type { ObjectMeta, OwnerReference } from '../../api/types/index.ts';
import { type Action, decide, type Facts, type Finding, stateOf } from './decide.ts';

const item = { apiVersion: 'v1', kind: 'Pod', namespace: 'ns', name: 'p', uid: 'p-uid' };

function reference(name: string, more: Partial<OwnerReference> = {}): OwnerReference {
  return { apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid: `${name}-uid`, ...more };
}

function facts(states: Readonly<Record<string, Finding['state']>>, more: Partial<Facts> = {}) {
  const findings = Object.entries(states).map(([name, state]) => {
    return { reference: reference(name, { blockOwnerDeletion: true }), state };
  });
  return { item, finalizers: [], findings, dependents: 0, waitingDependent: undefined, ...more };
}

function short(actions: readonly Action[]): readonly string[] {
  return actions.map((action) => {
    if (action.do === 'delete') return `delete ${action.policy}`;
    return action.do === 'unblock owners' ? action.do : `drop ${action.owners.join(' ')}`;
  });
}

const waitingDependent = { ...item, kind: 'ReplicaSet', name: 'd', uid: 'd-uid' };

const TABLE: readonly (readonly [string, Facts, readonly string[]])[] = [
  ['no references: nothing', facts({}), []],
  ['one owner is there: nothing', facts({ a: 'solid' }), []],
  ['an owner is gone, another is there', facts({ a: 'dangling', b: 'solid' }), ['drop a-uid']],
  ['an owner waits, another is there', facts({ a: 'waiting', b: 'solid' }), ['drop a-uid']],
  [
    'gone and waiting owners go together, the gone ones first',
    facts({ a: 'waiting', b: 'solid', c: 'dangling' }),
    ['drop c-uid a-uid'],
  ],
  ['all owners are gone', facts({ a: 'dangling', b: 'dangling' }), ['delete Background']],
  [
    'all owners are gone, and the object has dependents',
    facts({ a: 'dangling' }, { dependents: 3 }),
    ['delete Background'],
  ],
  [
    'all owners are gone: the finalizer orphan is honoured',
    facts({ a: 'dangling' }, { finalizers: ['x', 'orphan'] }),
    ['delete Orphan'],
  ],
  [
    'all owners are gone: the finalizer foregroundDeletion is honoured',
    facts({ a: 'dangling' }, { finalizers: ['foregroundDeletion'] }),
    ['delete Foreground'],
  ],
  [
    'all owners are gone: orphan comes before foreground',
    facts({ a: 'dangling' }, { finalizers: ['foregroundDeletion', 'orphan'] }),
    ['delete Orphan'],
  ],
  ['an owner waits, no dependents', facts({ a: 'waiting' }), ['delete Background']],
  [
    'an owner waits, no dependents, finalizer orphan',
    facts({ a: 'waiting' }, { finalizers: ['orphan'] }),
    ['delete Orphan'],
  ],
  ['an owner waits, dependents', facts({ a: 'waiting' }, { dependents: 1 }), ['delete Foreground']],
  [
    'an owner waits and another is gone, dependents',
    facts({ a: 'waiting', b: 'dangling' }, { dependents: 2 }),
    ['delete Foreground'],
  ],
  [
    'an owner waits, a dependent waits too: no circle may block',
    facts({ a: 'waiting' }, { dependents: 2, waitingDependent }),
    ['unblock owners', 'delete Foreground'],
  ],
  [
    'a circle that does not block needs no patch',
    {
      ...facts({}, { dependents: 2, waitingDependent }),
      findings: [{ reference: reference('a'), state: 'waiting' }],
    },
    ['delete Foreground'],
  ],
];

describe('decide', () => {
  test.each(TABLE)('%s', (_, given, expected) => {
    expect(short(decide(given))).toEqual([...expected]);
  });

  test('every action says why, with names', () => {
    for (const [, given] of TABLE) {
      for (const { because } of decide(given)) {
        expect(because.length).toBeGreaterThan(20);
        expect(because).toMatch(/ReplicaSet [abcdn]/);
      }
    }
    const [action] = decide(facts({ a: 'dangling' }));
    expect(action?.because).toBe('Pod ns/p has no owner left: ReplicaSet a does not exist');
  });
});

describe('stateOf', () => {
  const owner = (more: Partial<ObjectMeta> = {}): ObjectMeta => {
    return { name: 'a', uid: 'a-uid', resourceVersion: '1', ...more };
  };
  const at = '2026-05-20T12:00:00Z';

  test.each([
    ['not found', undefined, 'dangling'],
    ['another UID', owner({ uid: 'other' }), 'dangling'],
    ['there', owner(), 'solid'],
    ['being deleted in the background', owner({ deletionTimestamp: at }), 'solid'],
    [
      'being deleted with other finalizers',
      owner({ deletionTimestamp: at, finalizers: ['orphan', 'x'] }),
      'solid',
    ],
    ['not deleted, but with the finalizer', owner({ finalizers: ['foregroundDeletion'] }), 'solid'],
    [
      'being deleted in the foreground',
      owner({ deletionTimestamp: at, finalizers: ['foregroundDeletion'] }),
      'waiting',
    ],
  ] as const)('%s', (_, found, expected) => {
    expect(stateOf(reference('a'), found)).toBe(expected);
  });
});
