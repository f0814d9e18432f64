import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Taint, Toleration } from '../../api/types/index.ts';
import { type Decision, decide, type Observed } from './decide.ts';

const RULES = { comparison: false };
const GONE: Taint = { key: 'gone', effect: 'NoExecute' };
const SLOW: Taint = { key: 'slow', effect: 'NoExecute' };
const WAITS = { uid: 'u', leftMs: 5_000, outlived: false };

function tolerating(...tolerations: readonly (readonly [string, number?])[]): Toleration[] {
  return tolerations.map(([key, tolerationSeconds]) => ({
    key,
    operator: 'Exists',
    ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
  }));
}

function observed(fields: Partial<Observed> & { tolerations?: readonly Toleration[] }): Observed {
  const { tolerations = [], ...rest } = fields;
  const pod = { uid: 'u', nodeName: 'n', tolerations };
  return { pod, taints: [GONE], pending: undefined, asked: true, ...rest };
}

function outcome({ cancels, act }: Decision): string {
  const amount = act.kind === 'wait' ? act.leftMs : act.kind === 'start' ? act.delayMs : '';
  return `${cancels ? 'cancel, ' : ''}${act.kind} ${amount}`.trim();
}

describe('a pod of which something changed', () => {
  test.each<[string, Parameters<typeof observed>[0], string]>([
    ['tolerates nothing', {}, 'evict'],
    ['tolerates nothing and waits', { pending: WAITS }, 'cancel, evict'],
    ['tolerates for a time', { tolerations: tolerating(['gone', 60]) }, 'start 60000'],
    ['tolerates for ever', { tolerations: tolerating(['gone']) }, 'rest'],
    [
      'tolerates for ever, but waits',
      { tolerations: tolerating(['gone']), pending: WAITS },
      'cancel, rest',
    ],
    ['tolerates for no time', { tolerations: tolerating(['gone', 0]) }, 'evict'],
    ['tolerates for less than no time', { tolerations: tolerating(['gone', -5]) }, 'evict'],
    [
      'keeps its clock, whatever shorter time comes out',
      { tolerations: tolerating(['gone', 1]), pending: WAITS },
      'wait 5000',
    ],
    [
      'is due while it waits',
      { tolerations: tolerating(['gone', 1]), pending: { ...WAITS, leftMs: 0 } },
      'evict',
    ],
    [
      'waits the shortest of the times it uses',
      { taints: [GONE, SLOW], tolerations: tolerating(['gone', 60], ['slow', 30]) },
      'start 30000',
    ],
    [
      'uses the first toleration of each taint only',
      { tolerations: tolerating(['gone', 60], ['gone', 1]) },
      'start 60000',
    ],
    [
      'one for ever beside one for a time',
      { taints: [GONE, SLOW], tolerations: tolerating(['gone'], ['slow', 30]) },
      'start 30000',
    ],
    [
      'tolerates one of two',
      { taints: [GONE, SLOW], tolerations: tolerating(['gone', 60]) },
      'evict',
    ],
    ['has no taint any more', { taints: [], pending: WAITS }, 'cancel, rest'],
    ['never had one', { taints: [] }, 'rest'],
    ['is gone', { pod: undefined, taints: undefined, pending: WAITS }, 'cancel, rest'],
    ['is gone and did not wait', { pod: undefined, taints: undefined }, 'rest'],
    ['lost its node', { taints: undefined, pending: WAITS }, 'wait 5000'],
    ['lost its node long ago', { taints: undefined, pending: { ...WAITS, leftMs: -1 } }, 'evict'],
    ['is on no node that is known', { taints: undefined }, 'rest'],
    [
      'has the name of one that waited',
      { tolerations: tolerating(['gone', 60]), pending: { ...WAITS, uid: 'other' } },
      'cancel, start 60000',
    ],
    [
      'waited for taints that were taken off while nobody looked',
      { tolerations: tolerating(['gone', 60]), pending: { ...WAITS, outlived: true } },
      'cancel, start 60000',
    ],
  ])('%s', (_, fields, wanted) => {
    expect(outcome(decide(observed(fields), RULES))).toBe(wanted);
  });

  test('says why', () => {
    const because = (fields: Parameters<typeof observed>[0]) =>
      decide(observed(fields), RULES).because;
    expect(because({})).toBe('it does not tolerate gone');
    expect(because({ tolerations: tolerating(['gone', 60]) })).toBe('it tolerates gone for 60 s');
  });

  test('a time beyond 2^53 seconds is waited for, not wrapped', () => {
    const tolerationSeconds = 9_007_199_254_740_993n as unknown as number;
    const tolerations = [{ operator: 'Exists', tolerationSeconds }];
    expect(outcome(decide(observed({ tolerations }), RULES))).toStartWith('start 9');
  });
});

describe('a pod of which only time passed', () => {
  test.each<[string, Parameters<typeof observed>[0], string]>([
    ['waits for nothing', {}, 'rest'],
    ['is not due', { pending: WAITS }, 'wait 5000'],
    ['is due', { pending: { ...WAITS, leftMs: 0 } }, 'evict'],
    [
      'is due, and the taints are gone',
      { taints: [], pending: { ...WAITS, leftMs: 0 } },
      'cancel, rest',
    ],
  ])('%s', (_, fields, wanted) => {
    expect(outcome(decide(observed({ ...fields, asked: false }), RULES))).toBe(wanted);
  });
});

test('nobody leaves early: only an untolerated taint or a time that is over evicts', () => {
  const key = fc.constantFrom('gone', 'slow', 'third');
  const taint = key.map((name): Taint => ({ key: name, effect: 'NoExecute' }));
  const toleration = fc.record({
    key,
    operator: fc.constant('Exists'),
    tolerationSeconds: fc.option(fc.integer({ min: -2, max: 600 }), { nil: undefined }),
  }) as fc.Arbitrary<Toleration>;
  const pending = fc.record({
    uid: fc.constantFrom('u', 'other'),
    leftMs: fc.integer({ min: -5_000, max: 600_000 }),
    outlived: fc.boolean(),
  });
  const any = fc.record({
    taints: fc.option(fc.uniqueArray(taint, { selector: (one) => one.key }), { nil: undefined }),
    tolerations: fc.array(toleration, { maxLength: 4 }),
    pending: fc.option(pending, { nil: undefined }),
    asked: fc.boolean(),
  });
  fc.assert(
    fc.property(any, (fields) => {
      const seen = observed(fields);
      const decision = decide(seen, RULES);
      expect(decide(seen, RULES)).toEqual(decision);
      if (decision.act.kind !== 'evict') return;
      const own = fields.pending?.uid === 'u' && !fields.pending.outlived;
      const due = own && (fields.pending?.leftMs ?? 1) <= 0;
      const untolerated = (fields.taints ?? []).some(({ key: name }) => {
        const first = fields.tolerations.find((one) => one.key === name);
        return first === undefined || (first.tolerationSeconds ?? 1) <= 0;
      });
      expect(due || untolerated).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});
