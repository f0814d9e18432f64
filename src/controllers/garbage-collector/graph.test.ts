import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { Graph } from './graph.ts';
import { identityOfKey, keyOfIdentity } from './identity.ts';
import type { Node, NodeRecord, Source } from './node.ts';

const SOURCE: Source = { apiVersion: 'v1', kind: 'ConfigMap' };

interface Heard {
  readonly deletes: string[];
  readonly orphans: string[];
  readonly absent: string[];
  readonly later: string[];
}

function listening(): { readonly graph: Graph; readonly heard: Heard } {
  const heard: Heard = { deletes: [], orphans: [], absent: [], later: [] };
  const graph = new Graph({
    tryDelete: ({ uid }) => void heard.deletes.push(uid),
    tryDeleteLater: ({ identity }) => void heard.later.push(identity.name),
    tryOrphan: ({ uid }) => void heard.orphans.push(uid),
    absent: ({ name }) => void heard.absent.push(name),
    wrongNamespace: () => undefined,
  });
  return { graph, heard };
}

function recordOf(uid: string, owners: readonly string[] = [], more: object = {}): NodeRecord {
  const references = owners.map((owner) => {
    return { apiVersion: 'v1', kind: 'ConfigMap', name: owner, uid: owner };
  });
  const ties = { owners: references, foreground: false, orphan: false, ...more };
  return { namespace: 'ns', name: uid, uid, resourceVersion: '1', deleting: false, ties };
}

const uids = (nodes: Iterable<Node>) => [...nodes].map(({ uid }) => uid).sort();

/** Owners and dependents of every node, as text. */
function shapeOf(graph: Graph): readonly string[] {
  return [...graph.all()]
    .map(({ uid, virtual, dependents }) => `${uid}${virtual ? '?' : ''}: ${uids(dependents)}`)
    .sort();
}

describe('the graph', () => {
  test('is the same in whatever order objects come, alone or in bulk', () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const owners = fc.uniqueArray(fc.constantFrom(...names, 'missing'), { maxLength: 3 });
    const objects = fc.tuple(...names.map((name) => owners.map((all) => recordOf(name, all))));
    fc.assert(
      fc.property(objects, fc.shuffledSubarray(names, { minLength: 5 }), (records, order) => {
        const [one, other] = [listening(), listening()];
        for (const record of records) one.graph.observe(SOURCE, record, undefined);
        const sorted = order.map((name) => records[names.indexOf(name)] as NodeRecord);
        other.graph.inBulk(() => {
          for (const record of sorted) other.graph.observe(SOURCE, record, undefined);
        });
        expect(shapeOf(other.graph)).toEqual(shapeOf(one.graph));
        const missing = records.some(({ ties }) =>
          ties?.owners.some(({ uid }) => uid === 'missing'),
        );
        expect(other.heard.deletes).toEqual(missing ? ['missing'] : []);
      }),
    );
  });

  test('is empty again when all have gone', () => {
    const { graph, heard } = listening();
    const all = [recordOf('owner'), recordOf('a', ['owner']), recordOf('b', ['owner', 'a'])];
    for (const record of all) graph.observe(SOURCE, record, undefined);
    for (const record of all) graph.remove(SOURCE, record);
    expect(graph.size).toBe(0);
    expect(heard.absent).toEqual(['owner', 'a']);
    expect(heard.deletes).toEqual(['a', 'b', 'b']);
  });

  test('follows references that change', () => {
    const { graph } = listening();
    for (const name of ['x', 'y']) graph.observe(SOURCE, recordOf(name), undefined);
    const [before, after] = [recordOf('a', ['x']), recordOf('a', ['y'])];
    graph.observe(SOURCE, before, undefined);
    graph.observe(SOURCE, after, before);
    expect(shapeOf(graph)).toEqual(['a: ', 'x: ', 'y: a']);
  });

  test('an orphaning deletion is noticed once, also at first sight', () => {
    const { graph, heard } = listening();
    const alive = recordOf('x', [], { orphan: true });
    const going = { ...alive, deleting: true };
    graph.observe(SOURCE, alive, undefined);
    expect(heard.orphans).toEqual([]);
    graph.observe(SOURCE, going, alive);
    graph.observe(SOURCE, { ...going, resourceVersion: '2' }, going);
    expect(heard.orphans).toEqual(['x']);
    const second = listening();
    second.graph.observe(SOURCE, going, undefined);
    expect(second.heard.orphans).toEqual(['x']);
  });

  test('an absent identity takes only the virtual node that goes by it', () => {
    const { graph, heard } = listening();
    graph.observe(SOURCE, recordOf('a', ['owner']), undefined);
    const { identity } = graph.get('owner')!;
    graph.absent({ ...identity, name: 'another' });
    expect(graph.get('owner')).toBeDefined();
    graph.absent(identity);
    expect(graph.get('owner')).toBeUndefined();
    expect(heard.absent).toEqual(['owner']);
    graph.observe(SOURCE, recordOf('seen'), undefined);
    graph.absent({ ...graph.get('seen')!.identity, namespace: 'elsewhere' });
    expect(graph.get('seen')).toBeDefined();
  });

  test('only what was looked for counts as absent, not what a node is called by now', () => {
    const { graph, heard } = listening();
    graph.observe(SOURCE, recordOf('a', ['owner']), undefined);
    const other = { apiVersion: 'example.com/v1', kind: 'Widget', name: 'w', uid: 'owner' };
    graph.observe(SOURCE, recordOf('b', [], { owners: [other] }), undefined);
    const { identity } = graph.get('owner')!;
    graph.absent(identity);
    expect(heard.later).toEqual(['w']);
    graph.remove(SOURCE, recordOf('b'));
    heard.absent.length = 0;
    graph.absent(identity);
    expect(graph.get('owner')).toBeUndefined();
    expect(heard.absent).toEqual(['owner']);
  });

  test('what is lost from sight is only known from those who refer to it', () => {
    const { graph, heard } = listening();
    const owner = recordOf('owner');
    graph.observe(SOURCE, owner, undefined);
    graph.observe(SOURCE, recordOf('a', ['owner']), undefined);
    graph.lose(recordOf('a'));
    expect(shapeOf(graph)).toEqual(['owner: ']);
    graph.observe(SOURCE, recordOf('a', ['owner']), undefined);
    graph.lose(owner);
    expect(shapeOf(graph)).toEqual(['a: ', 'owner?: a']);
    expect(heard.deletes).toEqual(['owner']);
    graph.observe(SOURCE, owner, undefined);
    expect(shapeOf(graph)).toEqual(['a: ', 'owner: a']);
  });
});

describe('queue keys', () => {
  test('come back as the identity they were made of, whatever is in a name', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 5, maxLength: 5 }), (texts) => {
        const [apiVersion = '', kind = '', namespace = '', name = '', uid = ''] = texts;
        const identity = { apiVersion, kind, namespace, name, uid };
        expect(identityOfKey(keyOfIdentity(identity))).toEqual(identity);
      }),
    );
    for (const text of ['', 'ns/name', '{}', '["v1","Pod"]']) {
      expect(identityOfKey(text)).toBeUndefined();
    }
  });
});
