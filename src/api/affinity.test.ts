/** Node selectors; generated cases against the reference are in controllers/daemonset. */
import { describe, expect, test } from 'bun:test';
import { nodeSelectorTest, requiredNodeTest } from './affinity.ts';
import type { NodeSelectorRequirement } from './types/index.ts';

const node = { name: 'n1', labels: { disk: 'ssd', size: '10' } };

function matches(...requirements: NodeSelectorRequirement[]): boolean {
  return nodeSelectorTest({ nodeSelectorTerms: [{ matchExpressions: requirements }] })(node);
}

describe('a term', () => {
  test.each<[string, string, string[] | undefined, boolean]>([
    ['disk', 'In', ['hdd', 'ssd'], true],
    ['disk', 'In', ['hdd'], false],
    ['disk', 'In', [], false],
    ['disk', 'NotIn', ['hdd'], true],
    ['other', 'NotIn', ['hdd'], true],
    ['disk', 'Exists', undefined, true],
    ['disk', 'Exists', ['ssd'], false],
    ['other', 'DoesNotExist', undefined, true],
    ['size', 'Gt', ['9'], true],
    ['size', 'Gt', ['10'], false],
    ['size', 'Lt', ['11'], true],
    ['size', 'Lt', ['11', '12'], false],
    ['disk', 'Gt', ['1'], false],
    ['other', 'Lt', ['1'], false],
    ['size', 'Gt', ['x'], false],
    ['bad key', 'Exists', undefined, false],
    ['disk', 'Odd', ['ssd'], false],
  ])('%s %s %p', (key, operator, values, answer) => {
    expect(matches({ key, operator, values })).toBe(answer);
  });

  test('needs all its requirements, over fields too; a field but the name is empty', () => {
    const disk = { key: 'disk', operator: 'In', values: ['ssd'] };
    const name = (operator: string, value: string) => ({
      key: 'metadata.name',
      operator,
      values: [value],
    });
    const term = (field: NodeSelectorRequirement) =>
      nodeSelectorTest({ nodeSelectorTerms: [{ matchExpressions: [disk], matchFields: [field] }] });
    expect(term(name('In', 'n1'))(node)).toBe(true);
    expect(term(name('In', 'n2'))(node)).toBe(false);
    expect(term(name('NotIn', 'n2'))(node)).toBe(true);
    expect(term({ ...name('In', 'n1'), values: ['n1', 'n2'] })(node)).toBe(false);
    expect(term({ key: 'spec.x', operator: 'In', values: [''] })(node)).toBe(true);
  });
});

test('terms are alternatives; empty ones, and none, match nothing', () => {
  const hdd = { matchExpressions: [{ key: 'disk', operator: 'In', values: ['hdd'] }] };
  const ssd = { matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] };
  expect(nodeSelectorTest({ nodeSelectorTerms: [hdd, ssd] })(node)).toBe(true);
  expect(nodeSelectorTest({ nodeSelectorTerms: [hdd, {}] })(node)).toBe(false);
  expect(nodeSelectorTest({ nodeSelectorTerms: [] })(node)).toBe(false);
});

test('a pod needs its node selector and its required affinity, if it has them', () => {
  const affinity = (key: string) => {
    const nodeSelectorTerms = [{ matchExpressions: [{ key, operator: 'Exists' }] }];
    const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
    return { nodeAffinity: required };
  };
  expect(requiredNodeTest({})(node)).toBe(true);
  expect(requiredNodeTest({ nodeSelector: { disk: 'ssd' } })(node)).toBe(true);
  expect(requiredNodeTest({ nodeSelector: { disk: 'hdd' } })(node)).toBe(false);
  const both = (key: string) => ({ nodeSelector: { disk: 'ssd' }, affinity: affinity(key) });
  expect(requiredNodeTest(both('size'))(node)).toBe(true);
  expect(requiredNodeTest(both('other'))(node)).toBe(false);
});
