import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { NODES } from '../../api/resource.ts';
import type { Node } from '../../api/types/index.ts';
import { fakeContext } from '../_kit/testing/fake-context.ts';
import { FakeRun } from '../_kit/testing/fake-run.ts';
import {
  decide,
  STEP_COUNT,
  stepAfterAdd,
  stepAfterDelete,
  stepAfterRestart,
  TTL_ANNOTATION,
} from './decide.ts';
import { ttlController } from './index.ts';

function node(name: string, ttl?: string): Node {
  const annotations: Record<string, string> = ttl === undefined ? {} : { [TTL_ANNOTATION]: ttl };
  return { metadata: { name, uid: `uid-${name}`, resourceVersion: '1', annotations } };
}

describe('the step', () => {
  test.each([
    [0, 100, 0],
    [0, 101, 1],
    [1, 500, 1],
    [1, 501, 2],
    [2, 1_001, 3],
    [3, 2_001, 4],
    [4, 100_000, 4],
    [0, 2_000, 1],
  ])('after an add, from step %d with %d nodes: %d', (step, nodes, wanted) => {
    expect(stepAfterAdd(step, nodes)).toBe(wanted);
  });

  test.each([
    [1, 90, 1],
    [1, 89, 0],
    [2, 449, 1],
    [3, 899, 2],
    [4, 1_799, 3],
    [4, 10, 3],
    [0, 0, 0],
  ])('after a delete, from step %d with %d nodes: %d', (step, nodes, wanted) => {
    expect(stepAfterDelete(step, nodes)).toBe(wanted);
  });

  test('stays between the first and the last, moves by one, whatever comes', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -40, max: 60 }), { maxLength: 120 }), (moves) => {
        let nodes = 0;
        let step = 0;
        for (const move of moves) {
          for (let i = 0; i < Math.abs(move); i++) {
            if (move < 0 && nodes === 0) break;
            nodes += Math.sign(move);
            const next = move > 0 ? stepAfterAdd(step, nodes) : stepAfterDelete(step, nodes);
            expect(Math.abs(next - step)).toBeLessThanOrEqual(1);
            step = next;
          }
        }
        expect(step).toBeWithin(0, STEP_COUNT);
        expect(stepAfterRestart(step, nodes)).toBe(step);
      }),
    );
  });

  test('after a restart is one that so few nodes allow', () => {
    expect(stepAfterRestart(4, 10)).toBe(0);
    expect(stepAfterRestart(1, 95)).toBe(1);
  });
});

describe('the annotation', () => {
  test.each([
    [undefined, true],
    ['0', false],
    ['+0', false],
    ['00', false],
    ['15', true],
    ['', true],
    ['none', true],
    ['0.0', true],
  ])('%p is replaced: %p', (ttl, replaced) => {
    expect(decide(node('a', ttl), 0) !== undefined).toBe(replaced);
  });
});

describe('the controller', () => {
  function setUp(count: number, fakes = fakeContext({ now: 0 })) {
    const nodes = fakes.informers.of<Node>(NODES);
    for (let i = 0; i < count; i++) nodes.put(node(`n${i}`));
    const built = ttlController.build(fakes.context);
    const [definition] = built?.queues ?? [];
    const sync = async (name: string) => {
      const run = new FakeRun(0);
      await definition?.reconcile(name, run);
      return run.writes;
    };
    return { ...fakes, nodes, sync, queue: fakes.queues.get('ttlcontroller') };
  }

  test('writes to a node that came or changed, naming its UID', async () => {
    const { queue, sync } = setUp(1);
    expect(queue?.drain()).toEqual(['n0']);
    expect(await sync('n0')).toEqual([
      {
        verb: 'patch',
        resource: 'nodes',
        key: 'n0',
        body: { metadata: { uid: 'uid-n0', annotations: { [TTL_ANNOTATION]: '0' } } },
        because: 'the annotation is absent, in a cluster of 0 to 100 nodes it must be 0',
        guard: undefined,
        uid: undefined,
      },
    ]);
    expect(await sync('gone')).toEqual([]);
  });

  test('a change of the step queues nobody: each node hears of it by its own next event', () => {
    const { nodes, queue } = setUp(100);
    queue?.drain();
    nodes.put(node('n100'));
    expect(queue?.drain()).toEqual(['n100']);
    nodes.remove(node('n100'));
    expect(queue?.drain()).toEqual([]);
  });

  test('a restart remembers on which side of the overlap it was', async () => {
    const before = setUp(101);
    for (let i = 0; i < 6; i++) before.nodes.remove(node(`n${i}`));
    const after = fakeContext({ now: 0 });
    for (const row of before.memory.all()) after.memory.put(row);
    const [write] = await setUp(95, after).sync('n7');
    expect(write?.body).toMatchObject({ metadata: { annotations: { [TTL_ANNOTATION]: '15' } } });
    const [forgotten] = await setUp(95).sync('n7');
    expect(forgotten?.body).toMatchObject({ metadata: { annotations: { [TTL_ANNOTATION]: '0' } } });
  });

  test('nodes that went while nobody counted take the step back', async () => {
    const before = setUp(101);
    const after = fakeContext({ now: 0 });
    for (const row of before.memory.all()) after.memory.put(row);
    const [write] = await setUp(20, after).sync('n7');
    expect(write?.body).toMatchObject({ metadata: { annotations: { [TTL_ANNOTATION]: '0' } } });
  });
});
