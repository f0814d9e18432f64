import { expect, test } from 'bun:test';
import { recordFields } from '../../api/record.ts';
import { STATEFUL_SETS } from '../../api/resource.ts';
import { adoptersOf, type Selecting } from './adopters.ts';
import { FakeInformers } from './testing/fake-informers.ts';

function owner(name: string, selector: object | undefined, namespace = 'default'): Selecting {
  const metadata = { name, namespace, uid: `${name}-uid`, resourceVersion: '1' };
  return { metadata, spec: { selector } } as Selecting;
}

function orphan(labels: Record<string, string>) {
  const metadata = { name: 'o', namespace: 'default', uid: 'o', resourceVersion: '1', labels };
  return recordFields({ metadata });
}

test('owners of the namespace whose selector matches; empty and invalid ones want nothing', () => {
  const owners = new FakeInformers().of<Selecting>(STATEFUL_SETS);
  owners.put(
    owner('a', { matchLabels: { app: 'web' } }),
    owner('b', { matchExpressions: [{ key: 'app', operator: 'Exists' }] }),
    owner('other', { matchLabels: { app: 'db' } }),
    owner('empty', {}),
    owner('none', undefined),
    owner('invalid', { matchExpressions: [{ key: 'app', operator: 'Odd' }] }),
    owner('far', { matchLabels: { app: 'web' } }, 'elsewhere'),
  );
  expect(adoptersOf(owners, orphan({ app: 'web' }))).toEqual(['default/a', 'default/b']);
  expect(adoptersOf(owners, orphan({}))).toEqual([]);
});

test('an owner whose stored object is lost is asked: its own sync will look', () => {
  const owners = new FakeInformers().of<Selecting>(STATEFUL_SETS);
  const lost = owner('a', { matchLabels: { app: 'db' } });
  owners.put(lost);
  owners.lose(lost);
  expect(adoptersOf(owners, orphan({ app: 'web' }))).toEqual(['default/a']);
});
