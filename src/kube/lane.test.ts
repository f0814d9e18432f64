import { expect, test } from 'bun:test';
import { Lane } from './lane.ts';

test('a lane has so many places, and whoever waited longest comes first', async () => {
  const lane = new Lane(2);
  const order: string[] = [];
  const enter = async (name: string, signal?: AbortSignal) => {
    const leave = await lane.enter(signal);
    if (leave !== undefined) order.push(name);
    return leave;
  };
  const first = await enter('first');
  expect(lane.isFull).toBe(false);
  const second = await enter('second');
  expect(lane.isFull).toBe(true);
  const third = enter('third');
  const stop = new AbortController();
  const fourth = enter('fourth', stop.signal);
  const fifth = enter('fifth');
  stop.abort();
  expect(await fourth).toBeUndefined();
  first?.();
  first?.();
  const leaveThird = await third;
  expect(order).toEqual(['first', 'second', 'third']);
  second?.();
  const leaveFifth = await fifth;
  expect(order).toEqual(['first', 'second', 'third', 'fifth']);
  expect(lane.isFull).toBe(true);
  leaveThird?.();
  leaveFifth?.();
  expect(lane.isFull).toBe(false);
  expect(await enter('late', AbortSignal.abort())).toBeUndefined();
});
