import { describe, expect, test } from 'bun:test';
import { splitReplicaSets } from './find.ts';
import { deployment, replicaSet } from './testing/build.ts';

describe('the new ReplicaSet', () => {
  const owner = deployment();
  const old = replicaSet('old', 1, { image: 'old:1', age: 9 });
  const fresh = replicaSet('fresh', 1, { age: 1 });
  const earlier = replicaSet('earlier', 1, { age: 5 });

  test('is the one with the template, whatever hash label it has', () => {
    expect(splitReplicaSets(owner, [fresh, old])).toEqual({ newRS: fresh, oldRSs: [old] });
  });

  test('is the oldest of several with the template; the others are old', () => {
    const split = splitReplicaSets(owner, [fresh, old, earlier]);
    expect(split).toEqual({ newRS: earlier, oldRSs: [old, fresh] });
  });

  test('may be missing', () => {
    expect(splitReplicaSets(owner, [old])).toEqual({ newRS: undefined, oldRSs: [old] });
    expect(splitReplicaSets(owner, [])).toEqual({ newRS: undefined, oldRSs: [] });
  });

  test('created in the same second: by name', () => {
    const [a, b] = [replicaSet('a', 1), replicaSet('b', 1)];
    expect(splitReplicaSets(owner, [b, a]).newRS).toBe(a);
  });
});
