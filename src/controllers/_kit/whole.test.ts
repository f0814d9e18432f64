import { expect, test } from 'bun:test';
import { NODES, PODS } from '../../api/resource.ts';
import type { KubeObject } from '../../api/types/index.ts';
import { ObjectUnavailable } from '../../runtime/informer/cache.ts';
import { FakeRun, refusal } from './testing/fake-run.ts';
import { podOf } from './testing/objects.ts';
import { whole } from './whole.ts';

const LOST = {
  get(key: string): never {
    throw new ObjectUnavailable(PODS, key);
  },
};

test('what is cached is not read, and what is not cached is not looked for', async () => {
  const run = new FakeRun(0);
  const pod = podOf({ name: 'a' });
  expect(await whole(run, PODS, { get: () => pod }, 'default/a')).toBe(pod);
  expect(await whole(run, PODS, { get: () => undefined }, 'default/a')).toBeUndefined();
  expect(run.reads).toEqual([]);
});

test('what the disk lost is read live, with or without a namespace', async () => {
  const run = new FakeRun(0);
  const pod = podOf({ name: 'a' });
  const node: KubeObject = { metadata: { name: 'n', uid: 'u', resourceVersion: '1' } };
  run.live(PODS, pod);
  run.live(NODES, node);
  expect(await whole<KubeObject, never>(run, PODS, LOST, 'default/a')).toBe(pod);
  expect(await whole<KubeObject, never>(run, NODES, LOST, 'n')).toBe(node);
  expect(await whole(run, PODS, LOST, 'default/gone')).toBeUndefined();
  run.failNext('get', refusal(500, 'InternalError', 'no way'));
  await expect(whole(run, PODS, LOST, 'default/a')).rejects.toThrow('no way');
});

test('any other fault is handed on', async () => {
  const broken = {
    get(): never {
      throw new Error('broken');
    },
  };
  await expect(whole(new FakeRun(0), PODS, broken, 'default/a')).rejects.toThrow('broken');
});
