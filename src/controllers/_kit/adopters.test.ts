import { expect, test } from 'bun:test';
import { recordFields } from '../../api/record.ts';
import { STATEFUL_SETS } from '../../api/resource.ts';
import type { StatefulSet } from '../../api/types/index.ts';
import { Adopters } from './adopters.ts';
import { type FakeInformer, FakeInformers } from './testing/fake-informers.ts';

function owner(name: string, selector: object | undefined, namespace = 'default'): StatefulSet {
  const metadata = { name, namespace, uid: `${name}-uid`, resourceVersion: '1' };
  return { metadata, spec: { selector } } as StatefulSet;
}

function adoptersOf(owners: FakeInformer<StatefulSet>): Adopters<StatefulSet> {
  return new Adopters(owners, ({ spec }) => spec?.selector);
}

function orphan(labels: Record<string, string>) {
  const metadata = { name: 'o', namespace: 'default', uid: 'o', resourceVersion: '1', labels };
  return recordFields({ metadata });
}

test('owners of the namespace whose selector matches; empty and invalid ones want nothing', () => {
  const owners = new FakeInformers().of<StatefulSet>(STATEFUL_SETS);
  owners.put(
    owner('a', { matchLabels: { app: 'web' } }),
    owner('b', { matchExpressions: [{ key: 'app', operator: 'Exists' }] }),
    owner('other', { matchLabels: { app: 'db' } }),
    owner('empty', {}),
    owner('none', undefined),
    owner('invalid', { matchExpressions: [{ key: 'app', operator: 'Odd' }] }),
    owner('far', { matchLabels: { app: 'web' } }, 'elsewhere'),
  );
  expect(adoptersOf(owners).of(orphan({ app: 'web' }))).toEqual(['default/a', 'default/b']);
  expect(adoptersOf(owners).of(orphan({}))).toEqual([]);
});

test('an owner whose stored object is lost is asked: its own sync will look', () => {
  const owners = new FakeInformers().of<StatefulSet>(STATEFUL_SETS);
  const lost = owner('a', { matchLabels: { app: 'db' } });
  owners.put(lost);
  owners.lose(lost);
  expect(adoptersOf(owners).of(orphan({ app: 'web' }))).toEqual(['default/a']);
});

test('selectors are kept as long as the owner is as it was', () => {
  const owners = new FakeInformers().of<StatefulSet>(STATEFUL_SETS);
  const get = owners.get.bind(owners);
  let read = 0;
  owners.get = (key) => {
    read++;
    return get(key);
  };
  const adopters = adoptersOf(owners);
  const web = owner('a', { matchLabels: { app: 'web' } });
  owners.put(web);
  const found = (app: string): readonly string[] => adopters.of(orphan({ app }));
  expect([found('web'), found('db')]).toEqual([['default/a'], []]);
  expect(read).toBe(1);
  const changed = owner('a', { matchLabels: { app: 'db' } });
  owners.put({ ...changed, metadata: { ...changed.metadata, resourceVersion: '2' } });
  expect([found('web'), found('db')]).toEqual([[], ['default/a']]);
  expect(read).toBe(2);
  adopters.forget('default/a');
  found('db');
  expect(read).toBe(3);
  expect(adopters.of(orphan({ app: 'db' }), () => false)).toEqual([]);
});
