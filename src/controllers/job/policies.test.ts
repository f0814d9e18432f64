import { describe, expect, test } from 'bun:test';
import type { PodFailurePolicy, SuccessPolicy } from '../../api/types/index.ts';
import { failureFacts } from './facts.ts';
import { parseIndexes } from './indexes.ts';
import { type FailureFacts, judgeFailure } from './pod-failure-policy.ts';
import { metSuccessRule } from './success-policy.ts';
import { podOf } from './testing/build.ts';

type Rule = PodFailurePolicy['rules'][number];

const exits = (...codes: readonly [string, number][]): FailureFacts => ({
  exits: codes.map(([container, code]) => ({ container, code })),
  conditions: [],
  failureCount: 0,
  ignoredCount: 0,
});
const conditions = (...found: readonly [string, string][]): FailureFacts => ({
  ...exits(),
  conditions: found.map(([type, status]) => ({ type, status })),
});
const onCodes = (action: string, operator: string, values: number[], containerName?: string) =>
  ({ action, onExitCodes: { operator, values, containerName } }) as Rule;
const onCondition = (action: string, type: string, status?: string): Rule =>
  ({ action, onPodConditions: [status === undefined ? { type } : { type, status }] }) as Rule;

describe('the pod failure policy', () => {
  const COUNTED = { counted: true };
  const IGNORED = { counted: false, action: 'Ignore' };
  const disrupted = conditions(['DisruptionTarget', 'True']);
  const table: readonly [string, Rule[], FailureFacts, object][] = [
    ['no rules', [], exits(['main', 1]), COUNTED],
    ['no rule that matches', [onCodes('Ignore', 'In', [1, 2])], exits(['main', 3]), COUNTED],
    ['Ignore by code', [onCodes('Ignore', 'In', [1, 2])], exits(['main', 2]), IGNORED],
    [
      'negative codes, as on Windows',
      [onCodes('Ignore', 'In', [-9])],
      exits(['main', -9]),
      IGNORED,
    ],
    [
      'Count by code: as no match, but no later rule counts',
      [onCodes('Count', 'In', [1]), onCodes('Ignore', 'In', [1])],
      exits(['main', 1]),
      { counted: true, action: 'Count' },
    ],
    [
      'FailIndex by code',
      [onCodes('FailIndex', 'In', [1])],
      exits(['main', 1]),
      { counted: true, action: 'FailIndex' },
    ],
    [
      'FailJob by code: the first container that matches is named',
      [onCodes('FailJob', 'In', [5, 6])],
      exits(['side', 4], ['main', 5], ['last', 6]),
      {
        counted: true,
        action: 'FailJob',
        message:
          'Container main for pod ns/p failed with exit code 5 matching FailJob rule at index 0',
      },
    ],
    [
      'the second rule, of a container by name',
      [onCodes('FailJob', 'In', [1], 'side'), onCodes('FailJob', 'NotIn', [2], 'main')],
      exits(['side', 2], ['main', 1]),
      {
        counted: true,
        action: 'FailJob',
        message:
          'Container main for pod ns/p failed with exit code 1 matching FailJob rule at index 1',
      },
    ],
    ['NotIn with the code', [onCodes('Ignore', 'NotIn', [1])], exits(['main', 1]), COUNTED],
    ['an operator nobody knows', [onCodes('Ignore', 'Like', [1])], exits(['main', 1]), COUNTED],
    [
      'an action nobody knows: the next rule is looked at',
      [onCodes('Explode', 'In', [1]), onCodes('Ignore', 'In', [1])],
      exits(['main', 1]),
      IGNORED,
    ],
    ['Ignore by condition', [onCondition('Ignore', 'DisruptionTarget')], disrupted, IGNORED],
    [
      'Ignore by a condition that is False',
      [onCondition('Ignore', 'Config', 'False')],
      conditions(['Config', 'False']),
      IGNORED,
    ],
    [
      'a condition is meant to be True unless the rule says otherwise',
      [onCondition('Ignore', 'DisruptionTarget')],
      conditions(['DisruptionTarget', 'False']),
      COUNTED,
    ],
    [
      'FailJob by condition',
      [onCodes('Ignore', 'In', [1]), onCondition('FailJob', 'DisruptionTarget', 'True')],
      disrupted,
      {
        counted: true,
        action: 'FailJob',
        message: 'Pod ns/p has condition DisruptionTarget matching FailJob rule at index 1',
      },
    ],
  ];
  for (const [name, rules, facts, wanted] of table) {
    test(name, () => expect(judgeFailure({ rules }, 'ns/p', facts)).toEqual(wanted as never));
  }

  test('without one every failure counts', () => {
    expect(judgeFailure(undefined, 'ns/p', disrupted)).toEqual(COUNTED);
  });
});

describe('what a failed pod tells', () => {
  test('codes other than 0, of containers first, then of init containers', () => {
    const pod = podOf({ exitCode: 3 });
    const ended = (name: string, exitCode: number) => ({
      ...(pod.status?.containerStatuses?.[0] ?? { image: '', imageID: '' }),
      name,
      ready: false,
      restartCount: 0,
      state: { terminated: { exitCode } },
    });
    const facts = failureFacts({
      ...pod,
      status: {
        ...pod.status,
        containerStatuses: [ended('good', 0), ended('bad', 3)],
        initContainerStatuses: [ended('init', 4)],
      },
    });
    expect(facts.exits).toEqual([
      { container: 'bad', code: 3 },
      { container: 'init', code: 4 },
    ]);
  });

  test('counts of failures; what nobody of us wrote is 0', () => {
    const count = (text: string): number =>
      failureFacts(podOf({ annotations: { 'batch.kubernetes.io/job-index-failure-count': text } }))
        .failureCount;
    expect(['0', '3', '2147483647'].map(count)).toEqual([0, 3, 2147483647]);
    expect(['2147483648', '-1', 'x', ''].map(count)).toEqual([0, 0, 0, 0]);
    expect(failureFacts(podOf()).ignoredCount).toBe(0);
  });
});

describe('the success policy', () => {
  type Rules = SuccessPolicy['rules'];
  const COMPLETIONS = 20;
  const table: readonly [string, Rules, string, number | undefined][] = [
    ['no rules', [], '0', undefined],
    ['nothing has succeeded', [{ succeededCount: 1 }], '', undefined],
    ['indexes that nobody can read', [{ succeededIndexes: 'a-b' }], '0-19', undefined],
    ['all indexes of a rule', [{ succeededIndexes: '0-2,5' }], '0-5', 0],
    ['exactly those', [{ succeededIndexes: '0-2,5' }], '0-2,5', 0],
    ['all but one', [{ succeededIndexes: '0-2,5' }], '0-4', undefined],
    ['none of them', [{ succeededIndexes: '7-9' }], '0-4', undefined],
    ['overlapping at the start', [{ succeededIndexes: '3-7' }], '0-4', undefined],
    ['overlapping at the end', [{ succeededIndexes: '3-7' }], '5-9', undefined],
    ['enough', [{ succeededCount: 3 }], '1,5,9', 0],
    ['not enough', [{ succeededCount: 4 }], '1,5,9', undefined],
    ['enough of them', [{ succeededIndexes: '0-9', succeededCount: 3 }], '8-12,3', undefined],
    ['enough of them', [{ succeededIndexes: '0-9', succeededCount: 3 }], '3,8-12', 0],
    ['enough, but others', [{ succeededIndexes: '0-4', succeededCount: 3 }], '4-9', undefined],
    ['the second rule', [{ succeededIndexes: '9' }, { succeededCount: 2 }], '0,1', 1],
    ['the first of two', [{ succeededIndexes: '1' }, { succeededCount: 1 }], '0,1', 0],
    ['a rule that asks for nothing', [{}], '0-19', undefined],
    ['indexes beyond the completions', [{ succeededIndexes: '18-25' }], '18,19', 0],
  ];
  for (const [name, rules, succeeded, index] of table) {
    test(`${name}: ${JSON.stringify(rules)} and ${succeeded || 'nothing'}`, () => {
      const found = metSuccessRule({ rules }, COMPLETIONS, parseIndexes(succeeded, COMPLETIONS));
      expect(found).toBe(index === undefined ? undefined : `Matched rules at index ${index}`);
    });
  }

  test('without one nothing is met', () => {
    expect(metSuccessRule(undefined, 1, parseIndexes('0', 1))).toBeUndefined();
  });
});
