/** What the job controller takes over from a process that died, and how far it trusts it. */
import { describe, expect, test } from 'bun:test';
import { fakeContext } from '../_kit/testing/fake-context.ts';
import { AwaitedRemovals } from './memory.ts';

const NONE: ReadonlySet<string> = new Set();

function heirOf(expected: readonly string[], before?: (first: AwaitedRemovals) => void) {
  const { context } = fakeContext({ now: 0 });
  const first = new AwaitedRemovals(context);
  first.expect('job', expected);
  before?.(first);
  return { first, heir: new AwaitedRemovals(context) };
}

describe('removals of finalizers that are awaited', () => {
  test('by the process that sent them: the pods are counted', () => {
    const { first } = heirOf(['a', 'b']);
    expect(first.of('job', new Set(['a']))).toEqual({ untracked: new Set(['a', 'b']), unsure: 0 });
  });

  test('after its death: those whose UIDs the status holds are sent again', () => {
    const { heir } = heirOf(['a', 'b', 'c']);
    expect(heir.of('job', new Set(['a']))).toEqual({ untracked: new Set(['b', 'c']), unsure: 2 });
    heir.expect('job', ['a']);
    expect(heir.of('job', new Set(['a']))).toEqual({
      untracked: new Set(['a', 'b', 'c']),
      unsure: 2,
    });
  });

  test('until the cache shows it, and only of this Job', () => {
    const { heir } = heirOf(['a', 'b'], (first) => first.observed('job', 'a'));
    expect(heir.of('job', NONE)).toEqual({ untracked: new Set(['b']), unsure: 1 });
    expect(heir.of('other', NONE)).toEqual({ untracked: NONE, unsure: 0 });
    heir.forget('job');
    expect(heir.of('job', NONE)).toEqual({ untracked: NONE, unsure: 0 });
  });
});
