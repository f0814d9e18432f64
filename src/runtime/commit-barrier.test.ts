import { expect, test } from 'bun:test';
import { CommitBarrier } from './commit-barrier.ts';
import { fakeClock } from './testing/fake-clock.ts';

test('what reaches it in one turn is one commit, and waits for it', async () => {
  const clock = fakeClock(0);
  const steps: string[] = [];
  const barrier = new CommitBarrier(clock, () => steps.push('commit'));
  const first = barrier.reach().then(() => steps.push('first'));
  const second = barrier.reach().then(() => steps.push('second'));
  await Promise.resolve();
  expect(steps).toEqual([]);
  await clock.advance(0);
  await Promise.all([first, second]);
  expect(steps).toEqual(['commit', 'first', 'second']);
});

test('what is put after a commit has begun waits for the next one', async () => {
  const clock = fakeClock(0);
  let commits = 0;
  const barrier = new CommitBarrier(clock, () => commits++);
  const first = barrier.reach();
  await clock.advance(0);
  await first;
  const second = barrier.reach();
  await clock.advance(0);
  await second;
  expect(commits).toBe(2);
});

test('a commit that throws reaches all who wait, and the next one is tried', async () => {
  const clock = fakeClock(0);
  const outcomes = [new Error('no'), undefined];
  const barrier = new CommitBarrier(clock, () => {
    const error = outcomes.shift();
    if (error !== undefined) throw error;
  });
  const waits = [barrier.reach(), barrier.reach()].map((wait) => wait.catch(String));
  await clock.advance(0);
  expect(await Promise.all(waits)).toEqual(['Error: no', 'Error: no']);
  const next = barrier.reach();
  await clock.advance(0);
  await next;
});
