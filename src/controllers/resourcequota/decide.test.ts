import { describe, expect, test } from 'bun:test';
import { amountsOf } from '../../api/pod-resources.ts';
import type { ResourceQuota } from '../../api/types/index.ts';
import { decide } from './decide.ts';

type Texts = Record<string, string>;

function quota(hard: Texts | undefined, status?: { hard?: Texts; used?: Texts }): ResourceQuota {
  const metadata = { name: 'q', namespace: 'ns', uid: 'u', resourceVersion: '1' };
  return { metadata, spec: { hard }, status };
}

describe('decide', () => {
  test('a new quota gets its limits and its usage', () => {
    expect(decide(quota({ pods: '5', cpu: '2' }), amountsOf({ pods: '1', cpu: '500m' }))).toEqual({
      hard: { pods: '5', cpu: '2' },
      used: { pods: '1', cpu: '500m' },
      because: 'the limits of the spec changed',
    });
  });

  test('nothing is written when nothing changed, whatever the texts', () => {
    const status = { hard: { memory: '1024Mi' }, used: { memory: '512Mi' } };
    const measured = amountsOf({ memory: '536870912' });
    expect(decide(quota({ memory: '1Gi' }, status), measured)).toBeUndefined();
  });

  test('usage that changed is written, and says from what to what', () => {
    const status = { hard: { pods: '5' }, used: { pods: '1' } };
    expect(decide(quota({ pods: '5' }, status), amountsOf({ pods: '2' }))).toMatchObject({
      used: { pods: '2' },
      because: 'pods 1 -> 2',
    });
  });

  test('new limits are written though usage is the same', () => {
    const status = { hard: { pods: '5' }, used: { pods: '1' } };
    const next = decide(quota({ pods: '6' }, status), amountsOf({ pods: '1' }));
    expect(next).toMatchObject({ hard: { pods: '6' }, used: { pods: '1' } });
  });

  test('a name that nobody can measure keeps what it had', () => {
    const hard = { pods: '5', 'count/odd.example.com': '3', 'example.com/x': '1' };
    const status = { hard, used: { pods: '1', 'count/odd.example.com': '2' } };
    expect(decide(quota(hard, status), amountsOf({ pods: '2' }))?.used).toEqual({
      pods: '2',
      'count/odd.example.com': '2',
    });
    expect(decide(quota(hard, status), amountsOf({ pods: '1' }))).toBeUndefined();
  });

  test('names that are not limited any more go', () => {
    const status = { hard: { pods: '5' }, used: { pods: '1', cpu: '3' } };
    const next = decide(quota({ pods: '5' }, status), amountsOf({ pods: '1', cpu: '3' }));
    expect(next?.used).toEqual({ pods: '1' });
    expect(next?.because).toBe('names that are not limited any more go');
  });

  test('a status without usage is completed even if nothing is limited', () => {
    expect(decide(quota({}, { hard: {} }), amountsOf({}))).toMatchObject({ hard: {}, used: {} });
  });
});
