import { describe, expect, test } from 'bun:test';
import type { KubeObject } from '../../../api/types/index.ts';
import { SliceTracker } from './tracker.ts';

const KEY = 'ns/web';
/** Version of a cache that is older than what is written here. */
const UP_TO = '9';

function slice(name: string, generation: number, deleting = false): KubeObject {
  const deletion = deleting ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {};
  return { metadata: { name, uid: `uid-${name}`, resourceVersion: '10', generation, ...deletion } };
}

describe('what a sync may start from', () => {
  const written = (...slices: KubeObject[]): SliceTracker => {
    const tracker = new SliceTracker();
    for (const one of slices) tracker.wrote(KEY, one);
    return tracker;
  };
  const deleted = new SliceTracker();
  deleted.deleting(KEY, 'uid-a');

  test.each<[string, SliceTracker, KubeObject[], boolean]>([
    ['nothing was written', new SliceTracker(), [slice('a', 1)], false],
    ['what was written', written(slice('a', 2)), [slice('a', 2)], false],
    ['newer than what was written', written(slice('a', 2)), [slice('a', 3)], false],
    ['older than what was written', written(slice('a', 2)), [slice('a', 1)], true],
    ['a slice that was made is not shown', written(slice('a', 1)), [], true],
    ['a slice nobody here wrote', written(slice('a', 1)), [slice('a', 1), slice('b', 7)], false],
    ['a slice that was deleted is shown', deleted, [slice('a', 1)], true],
    ['a slice that was deleted is not shown', deleted, [], false],
    ['one that is being deleted is still there', deleted, [slice('a', 1, true)], false],
    ['one that was written is being deleted', written(slice('a', 2)), [slice('a', 1, true)], false],
    ['slices of another owner', written(slice('a', 2)), [slice('a', 2)], false],
  ])('%s', (_, tracker, shown, stale) => {
    expect(tracker.staleness(KEY, shown, UP_TO) !== undefined).toBe(stale);
    expect(tracker.staleness('ns/other', shown, UP_TO)).toBeUndefined();
  });
});

test.each([
  ['9', true],
  ['10', false],
  ['100', false],
  ['', true],
])('a slice that is not shown up to version "%s" is waited for: %p', (upTo, waits) => {
  const tracker = new SliceTracker();
  tracker.wrote(KEY, slice('a', 1));
  expect(tracker.staleness(KEY, [], upTo) !== undefined).toBe(waits);
  expect(tracker.knows(KEY, 'uid-a')).toBe(waits);
});

describe('what is news', () => {
  test('what was not written here, or is newer', () => {
    const tracker = new SliceTracker();
    expect(tracker.isNews(KEY, slice('a', 1))).toBe(true);
    tracker.wrote(KEY, slice('a', 2));
    expect(tracker.isNews(KEY, slice('a', 2))).toBe(false);
    expect(tracker.isNews(KEY, slice('a', 1))).toBe(false);
    expect(tracker.isNews(KEY, slice('a', 3))).toBe(true);
    expect(tracker.isNews('ns/other', slice('a', 2))).toBe(true);
  });

  test('one that an earlier attempt made, which is waited for as well', () => {
    const tracker = new SliceTracker();
    tracker.found(KEY, slice('a', 1));
    expect(tracker.staleness(KEY, [], UP_TO)).toBeDefined();
    expect(tracker.isNews(KEY, slice('a', 1))).toBe(true);
    expect(tracker.staleness(KEY, [slice('a', 1)], UP_TO)).toBeUndefined();
  });

  test('a deletion is, unless it was ours or the slice is unknown', () => {
    const tracker = new SliceTracker();
    expect(tracker.gone(KEY, 'uid-a')).toBe(true);
    tracker.wrote(KEY, slice('a', 1));
    expect(tracker.gone(KEY, 'uid-a')).toBe(false);
    expect(tracker.knows(KEY, 'uid-a')).toBe(false);
    tracker.wrote(KEY, slice('a', 1));
    tracker.deleting(KEY, 'uid-a');
    expect(tracker.gone(KEY, 'uid-a')).toBe(true);
  });

  test('a deletion that failed is taken back', () => {
    const tracker = new SliceTracker();
    tracker.wrote(KEY, slice('a', 2));
    tracker.deleting(KEY, 'uid-a')();
    expect(tracker.staleness(KEY, [slice('a', 2)], UP_TO)).toBeUndefined();
    expect(tracker.gone(KEY, 'uid-a')).toBe(false);
    tracker.deleting(KEY, 'uid-b')();
    expect(tracker.knows(KEY, 'uid-b')).toBe(false);
  });

  test('a forgotten owner has written nothing', () => {
    const tracker = new SliceTracker();
    tracker.wrote(KEY, slice('a', 2));
    tracker.forget(KEY);
    expect(tracker.staleness(KEY, [], UP_TO)).toBeUndefined();
    expect(tracker.knows(KEY, 'uid-a')).toBe(false);
  });
});
