import { describe, expect, test } from 'bun:test';
import { timeText } from '../../../api/time.ts';
import type { PodRecord } from '../../../runtime/informer/types.ts';
import { fakeContext } from '../testing/fake-context.ts';
import { CREATED_AT, pod, service } from './testing/build.ts';
import { TriggerTimes } from './trigger-times.ts';

const KEY = 'default/web';
const CREATED = timeText(CREATED_AT);

/** So many seconds after the Service was created. */
const at = (seconds: number): number => CREATED_AT + seconds * 1000;
const since = (name: string, seconds: number): PodRecord => pod(name, { readySince: at(seconds) });

function start(context = fakeContext({ now: at(100) }).context) {
  const times = new TriggerTimes(context);
  return {
    context,
    sync: (pods: readonly PodRecord[], given = service()): string | undefined => {
      const trigger = times.look(KEY, given, pods);
      times.keep(KEY, given, trigger);
      return trigger.time;
    },
    fail: (pods: readonly PodRecord[]) => times.look(KEY, service(), pods).time,
    forget: () => times.forget(KEY),
  };
}

describe('the time of what changed', () => {
  test('is the creation of the Service at first sight, whatever its pods say', () => {
    expect(start().sync([since('web-1', 50)])).toBe(CREATED);
    expect(start().sync([])).toBe(CREATED);
  });

  test('is the earliest change of readiness since', () => {
    const { sync } = start();
    sync([since('web-1', 10), since('web-2', 10)]);
    expect(sync([since('web-1', 30), since('web-2', 20), since('web-3', 40)])).toBe(
      timeText(at(20)),
    );
  });

  test('is none if nothing changed, pods only went, or nothing is known of readiness', () => {
    const { sync } = start();
    sync([since('web-1', 10), since('web-2', 10)]);
    expect(sync([since('web-1', 10), since('web-2', 10)])).toBeUndefined();
    expect(sync([since('web-1', 10)])).toBeUndefined();
    expect(sync([since('web-1', 10), { ...since('web-3', 0), readySince: 0 }])).toBeUndefined();
  });

  test('counts a pod that changed in the same second as another one before', () => {
    const { sync } = start();
    sync([since('web-1', 10)]);
    expect(sync([since('web-1', 10), since('web-2', 10)])).toBe(timeText(at(10)));
  });

  test('a clock that is behind brings no trigger', () => {
    const { sync } = start();
    sync([since('web-1', 10)]);
    expect(sync([since('web-1', 5)])).toBeUndefined();
  });

  test('stays until a sync has ended well', () => {
    const { sync, fail } = start();
    sync([]);
    expect(fail([since('web-1', 20)])).toBe(timeText(at(20)));
    expect(sync([since('web-1', 20), since('web-2', 30)])).toBe(timeText(at(20)));
    expect(sync([since('web-1', 20), since('web-2', 30)])).toBeUndefined();
  });

  test('a Service made anew is seen for the first time', () => {
    const { sync, forget } = start();
    sync([since('web-1', 10)]);
    const again = service({}, { uid: 'other', creationTimestamp: timeText(at(60)) });
    expect(sync([since('web-1', 10)], again)).toBe(timeText(at(60)));
    forget();
    expect(sync([since('web-1', 10)])).toBe(CREATED);
  });
});

describe('after a restart', () => {
  test('what was seen before is no trigger, what came since is', () => {
    const { context, sync } = start();
    sync([since('web-1', 10), since('web-2', 20)]);
    const next = start(context);
    expect(next.sync([since('web-1', 10), since('web-2', 20)])).toBeUndefined();
    const later = start(context);
    expect(later.sync([since('web-1', 30), since('web-2', 20)])).toBe(timeText(at(30)));
  });

  test('without memory it is as at first sight', () => {
    const { sync } = start();
    sync([since('web-1', 10)]);
    expect(start().sync([since('web-1', 10)])).toBe(CREATED);
  });
});
