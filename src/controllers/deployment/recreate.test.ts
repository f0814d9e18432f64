import { describe, expect, test } from 'bun:test';
import { oldPodsRunning } from './recreate.ts';
import { deployment, NOON, replicaSet } from './testing/build.ts';
import { Server } from './testing/server.ts';
import { inShort, sizesOf } from './testing/steps.ts';

const owner = deployment({ recreate: true });
const old = (name: string, size: number, replicas = size) =>
  replicaSet(name, size, { image: name, status: { replicas } }, owner);

describe('Recreate', () => {
  test('everything old goes to 0 first, and nothing new is created', () => {
    const server = new Server(owner, [old('v1', 3), old('v2', 2), old('v0', 0)], NOON);
    expect(inShort(server.sync())).toEqual([
      'scaleReplicaSet v1 to 0',
      'event ScalingReplicaSet',
      'scaleReplicaSet v2 to 0',
      'event ScalingReplicaSet',
      'updateStatus',
    ]);
    expect(sizesOf(server)).toEqual({ v1: 0, v2: 0, v0: 0 });
  });

  test('waits while an old one reports pods, or one of its pods runs', () => {
    const reporting = new Server(owner, [old('v1', 0, 1)], NOON);
    expect(inShort(reporting.sync())).toEqual(['updateStatus']);
    const running = new Server(owner, [old('v1', 0)], NOON);
    expect(inShort(running.sync(new Set(['v1-uid'])))).toEqual(['updateStatus']);
  });

  test('then the new one is created with all replicas', () => {
    const server = new Server(owner, [old('v1', 0)], NOON);
    expect(inShort(server.sync())).toEqual([
      'createReplicaSet of 3',
      'event ScalingReplicaSet',
      'updateStatus',
      'updateStatus',
    ]);
  });

  test('a new one that exists is scaled to all at once', () => {
    const fresh = replicaSet('new', 1, {}, owner);
    const server = new Server(owner, [old('v1', 0), fresh], NOON);
    server.sync(new Set(['new-uid']));
    expect(sizesOf(server)).toEqual({ v1: 0, new: 3 });
  });
});

describe('old pods running', () => {
  test.each<[string, string[], number[], boolean]>([
    ['no old ones', [], [], false],
    ['pods of old ones', ['a-uid', 'b-uid'], [0, 0], true],
    ['no pods, but one reports some', [], [1], true],
    ['neither', [], [0], false],
    ['only pods of the new one', ['new-uid'], [0], false],
  ])('%s', (_, running, reported, expected) => {
    const oldRSs = reported.map((replicas, index) => old(`v${index}`, 0, replicas));
    const sets = { newRS: replicaSet('new', 1), oldRSs };
    expect(oldPodsRunning({ running: new Set(running) }, sets)).toBe(expected);
  });

  test('without a new one every running pod is old', () => {
    const sets = { newRS: undefined, oldRSs: [] };
    expect(oldPodsRunning({ running: new Set(['x']) }, sets)).toBe(true);
  });
});
