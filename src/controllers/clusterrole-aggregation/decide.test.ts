import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ruleIdentity } from '../../api/cluster-role.ts';
import type { ClusterRole, PolicyRule } from '../../api/types/index.ts';
import { decide } from './decide.ts';

const READ: PolicyRule = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] };
const WRITE: PolicyRule = { verbs: ['create'], apiGroups: ['apps'], resources: ['deployments'] };
const PATHS: PolicyRule = { verbs: ['get'], nonResourceURLs: ['/metrics'] };

function role(name: string, rules?: readonly PolicyRule[]): ClusterRole {
  return { metadata: { name, uid: `uid-${name}`, resourceVersion: '1' }, rules };
}

describe('the rules of an aggregated role', () => {
  test.each<[string, readonly PolicyRule[] | undefined, ClusterRole[], unknown]>([
    ['nobody gives any', undefined, [], undefined],
    ['nobody gives any, it has none', [], [role('a')], undefined],
    ['nobody gives any, it has one', [READ], [], []],
    ['one gives', undefined, [role('a', [READ])], [READ]],
    ['two give, in order', undefined, [role('a', [WRITE]), role('b', [READ])], [WRITE, READ]],
    ['two give the same', undefined, [role('a', [READ]), role('b', [READ, PATHS])], [READ, PATHS]],
    ['it has them already', [READ, PATHS], [role('a', [READ]), role('b', [PATHS])], undefined],
    ['it has them in another order', [PATHS, READ], [role('a', [READ, PATHS])], [READ, PATHS]],
    ['it matches itself', [READ], [role('sum', [WRITE]), role('a', [READ])], undefined],
    [
      'lists that are empty or absent',
      [{ ...READ, resourceNames: [] }],
      [role('a', [READ])],
      undefined,
    ],
    ['an empty list', undefined, [role('a', [{ ...READ, resourceNames: [] }])], [READ]],
    [
      'verbs in another order are another rule',
      undefined,
      [role('a', [READ, { ...READ, verbs: ['list', 'get'] }])],
      [READ, { ...READ, verbs: ['list', 'get'] }],
    ],
  ])('%s', (_, has, sources, wanted) => {
    const decision = decide(role('sum', has), sources);
    expect(decision?.rules as unknown).toEqual(wanted);
  });

  test('come with the figures that decided', () => {
    expect(decide(role('sum', [READ]), [role('a', [READ]), role('b', [WRITE])])?.because).toBe(
      '2 matching roles give 2 rules, the role has 1',
    );
    expect(decide(role('sum', [READ]), [role('a', [WRITE])])?.because).toBe(
      '1 matching roles give 1 rules, the role has other ones',
    );
  });
});

const word = fc.constantFrom('a', 'b', 'c');
const list = fc.option(fc.array(word, { maxLength: 2 }), { nil: undefined });
const rule: fc.Arbitrary<PolicyRule> = fc.record({
  verbs: fc.array(word, { minLength: 1, maxLength: 2 }),
  apiGroups: list,
  resources: list,
});
const sources = fc
  .array(fc.record({ name: fc.constantFrom('a', 'b', 'sum'), rules: fc.array(rule) }))
  .map((given) => given.map(({ name, rules }) => role(name, rules)));

describe('whatever the roles give', () => {
  test('a rule of each is there once, no other is, and applying it ends the matter', () => {
    fc.assert(
      fc.property(sources, fc.array(rule), (given, former) => {
        const decision = decide(role('sum', former), given);
        const rules = decision?.rules ?? former;
        const found = rules.map(ruleIdentity);
        const others = given.filter(({ metadata }) => metadata.name !== 'sum');
        const wanted = new Set(others.flatMap((one) => (one.rules ?? []).map(ruleIdentity)));
        expect(new Set(found)).toEqual(wanted);
        expect(found).toHaveLength(wanted.size);
        expect(decide(role('sum', rules), given)).toBeUndefined();
      }),
    );
  });
});
