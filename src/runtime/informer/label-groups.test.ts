import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { LabelGroups } from './label-groups.ts';
import type { ObjectRecord } from './types.ts';

const WEB = { app: 'web' };
const API = { app: 'api' };

function record(
  name: string,
  labels: Record<string, string>,
  namespace = 'ns',
  resourceVersion = '1',
): ObjectRecord {
  const key = `${namespace}/${name}`;
  return { key, namespace, name, uid: name, resourceVersion, labels, deleting: false };
}

const names = (records: readonly ObjectRecord[]) => records.map(({ name }) => name).sort();
const isWeb = (labels: Readonly<Record<string, string>>) => labels.app === 'web';

describe('records by labels', () => {
  test('labels that many records share are asked about once', () => {
    const groups = new LabelGroups<ObjectRecord>();
    for (const name of ['a', 'b', 'c']) groups.add(record(name, WEB));
    groups.add(record('d', API));
    groups.add(record('e', WEB, 'other'));
    let asked = 0;
    const found = groups.selected('ns', (labels) => {
      asked++;
      return isWeb(labels);
    });
    expect(names(found)).toEqual(['a', 'b', 'c']);
    expect(asked).toBe(2);
  });

  test('a record that is added again under its labels takes the place of the old one', () => {
    const groups = new LabelGroups<ObjectRecord>();
    groups.add(record('a', WEB));
    groups.add(record('a', WEB, 'ns', '2'));
    expect(groups.selected('ns', isWeb).map((one) => one.resourceVersion)).toEqual(['2']);
    groups.add(record('b', WEB));
    groups.add(record('a', WEB, 'ns', '3'));
    expect(groups.selected('ns', isWeb)).toHaveLength(2);
  });

  test('whatever is added and removed, what is left is found', () => {
    const step = fc.record({
      name: fc.constantFrom('a', 'b', 'c', 'd'),
      namespace: fc.constantFrom('ns', 'other'),
      labels: fc.constantFrom(WEB, API, { app: 'web' }),
      add: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const groups = new LabelGroups<ObjectRecord>();
        const left = new Map<string, ObjectRecord>();
        for (const { name, namespace, labels, add } of steps) {
          const next = record(name, labels, namespace);
          const before = left.get(next.key);
          if (before !== undefined) groups.remove(before);
          left.delete(next.key);
          if (!add) continue;
          groups.add(next);
          left.set(next.key, next);
        }
        for (const namespace of ['ns', 'other']) {
          const wanted = [...left.values()].filter((one) => one.namespace === namespace);
          expect(names(groups.selected(namespace, () => true))).toEqual(names(wanted));
          const web = wanted.filter(({ labels }) => isWeb(labels));
          expect(names(groups.selected(namespace, isWeb))).toEqual(names(web));
        }
      }),
    );
  });
});
