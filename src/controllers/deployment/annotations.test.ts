import { describe, expect, test } from 'bun:test';
import {
  desiredReplicasOf,
  extendHistory,
  lastRevision,
  maxRevision,
  newReplicaSetAnnotations,
  REVISION,
  REVISION_HISTORY,
  revisionOf,
  rollbackRevisionOf,
  rolledBackAnnotations,
  sizeAnnotationsDiffer,
} from './annotations.ts';
import { deployment, replicaSet } from './testing/build.ts';

const revised = (revision: string) =>
  replicaSet(`r${revision}`, 0, { annotations: { [REVISION]: revision } });

describe('revisions', () => {
  test('missing is 0, unreadable is none, the highest and second-highest are found', () => {
    expect(revisionOf(replicaSet('a', 0))).toBe(0n);
    expect(revisionOf(revised('two'))).toBeUndefined();
    expect(revisionOf(revised('9223372036854775808'))).toBeUndefined();
    const all = ['3', 'x', '10', '7'].map(revised);
    expect([maxRevision(all), lastRevision(all)]).toEqual([10n, 7n]);
    expect([maxRevision([]), lastRevision([revised('4')])]).toEqual([0n, 0n]);
  });

  test('raised, never lowered; the old number joins the history', () => {
    const next = (own: string | undefined, revision: bigint) =>
      newReplicaSetAnnotations(
        deployment(),
        own === undefined ? {} : { [REVISION]: own },
        revision,
      );
    expect(next(undefined, 1n)).toEqual({ annotations: { [REVISION]: '1' }, changed: true });
    expect(next('5', 3n)).toEqual({ annotations: { [REVISION]: '5' }, changed: false });
    expect(next('2', 4n).annotations).toEqual({ [REVISION]: '4', [REVISION_HISTORY]: '2' });
    expect(next('x', 4n)).toEqual({ annotations: { [REVISION]: 'x' }, changed: false });
  });

  test.each([
    ['', '3', 5, '3'],
    ['11', '12', 5, '11,12'],
    ['11,12', '13', 5, '12,13'],
    ['1,2,3', '4', 100, '1,2,3,4'],
    ['1', '1234567', 5, '1'],
  ])('history %p and %p within %p characters', (history, revision, max, expected) => {
    expect(extendHistory(history, revision, max)).toBe(expected);
  });
});

describe('copying', () => {
  const own = {
    'kubectl.kubernetes.io/last-applied-configuration': '{}',
    'deployment.kubernetes.io/revision': '9',
    'deployment.kubernetes.io/revision-history': '8',
    'deployment.kubernetes.io/desired-replicas': '7',
    'deployment.kubernetes.io/max-replicas': '6',
    'deprecated.deployment.rollback.to': '5',
  };

  test('to the ReplicaSet: all but the own ones, and nothing is taken away there', () => {
    const from = deployment({ annotations: { ...own, team: 'a' } });
    const { annotations, changed } = newReplicaSetAnnotations(from, { kept: 'x', team: 'b' }, 1n);
    expect(annotations).toEqual({ kept: 'x', team: 'a', [REVISION]: '1' });
    expect(changed).toBe(true);
    expect(newReplicaSetAnnotations(from, annotations, 1n).changed).toBe(false);
  });

  test('back on a rollback: own ones kept, the request dropped, all others replaced', () => {
    const from = deployment({ annotations: { ...own, team: 'new', extra: 'y' } });
    const back = replicaSet('old', 0, { annotations: { ...own, [REVISION]: '1', team: 'old' } });
    const { 'deprecated.deployment.rollback.to': _, ...kept } = own;
    expect(rolledBackAnnotations(from, back)).toEqual({ ...kept, team: 'old' });
  });
});

test.each([
  ['0', 0],
  ['13', 13],
  ['2147483647', 2147483647],
  ['2147483648', undefined],
  ['4294967296', undefined],
  ['-1', undefined],
  ['+1', undefined],
  ['one', undefined],
  ['', undefined],
])('desired-replicas %p is read as %p', (text, expected) => {
  const annotations = { 'deployment.kubernetes.io/desired-replicas': text };
  expect(desiredReplicasOf(replicaSet('a', 1, { annotations }))).toBe(expected);
});

test('size annotations differ if one is missing or other', () => {
  const owner = deployment({ replicas: 10, maxSurge: 10 });
  const names = ['desired-replicas', 'max-replicas'].map((it) => `deployment.kubernetes.io/${it}`);
  const marked = (desired: string, max: string) =>
    replicaSet('a', 1, { annotations: { [names[0]!]: desired, [names[1]!]: max } });
  expect(sizeAnnotationsDiffer(marked('10', '20'), owner)).toBe(false);
  expect(sizeAnnotationsDiffer(marked('8', '20'), owner)).toBe(true);
  expect(sizeAnnotationsDiffer(marked('10', '16'), owner)).toBe(true);
  const bare = {
    ...replicaSet('a', 1),
    metadata: { ...replicaSet('a', 1).metadata, annotations: {} },
  };
  expect(sizeAnnotationsDiffer(bare, owner)).toBe(true);
});

test.each([
  [undefined, undefined],
  ['', undefined],
  ['x', undefined],
  ['0', 0n],
  ['12', 12n],
])('a rollback request %p means revision %p', (text, expected) => {
  const annotations: Record<string, string> =
    text === undefined ? {} : { 'deprecated.deployment.rollback.to': text };
  expect(rollbackRevisionOf(deployment({ annotations }))).toBe(expected);
});
