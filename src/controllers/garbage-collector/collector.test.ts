import { describe, expect, test } from 'bun:test';
import { refusal } from '../_kit/testing/fake-run.ts';
import { kindOf, MAPS, NODES, ownedBy, PODS, SETS, WIDGETS, World } from './testing/world.ts';

const BLOCKS = { blockOwnerDeletion: true, controller: true };

async function syncErrorsOf({ fakes }: World): Promise<number> {
  const name = 'garbagecollector_controller_resources_sync_error_total';
  const metric = fakes.context.metrics.registry.getSingleMetric(name)!;
  return (await metric.get()).values[0]?.value ?? 0;
}

/** ReplicaSet ns/rs with pods ns/p0, ns/p1, ... */
async function setWithPods(count: number, resource = PODS): Promise<World> {
  const world = await new World().start();
  const set = world.create(SETS, 'ns/rs');
  for (let index = 0; index < count; index++) {
    world.create(resource, `ns/p${index}`, { ownerReferences: [ownedBy(set, SETS, BLOCKS)] });
  }
  await world.settle();
  world.writes.length = 0;
  return world;
}

describe('propagation', () => {
  test('background: dependents of an owner that is gone are deleted', async () => {
    const world = await setWithPods(3);
    world.delete(SETS, 'ns/rs', 'Background');
    await world.settle();
    expect(world.left()).toEqual([]);
    expect(world.writes).toHaveLength(3);
    expect(world.writes).toContain('delete pods ns/p0 Background');
    expect(world.reasons).toContain('Pod ns/p0 has no owner left: ReplicaSet rs does not exist');
  });

  test('foreground: the owner goes after its dependents', async () => {
    const world = await setWithPods(2);
    world.edit(PODS, 'ns/p1', { finalizers: ['example.com/hold'] });
    world.delete(SETS, 'ns/rs', 'Foreground');
    await world.settle();
    expect(world.left()).toEqual(['pods ns/p1', 'replicasets.apps ns/rs']);
    world.edit(PODS, 'ns/p1', { finalizers: [] });
    await world.settle();
    expect(world.left()).toEqual([]);
  });

  test('foreground: only dependents that block are waited for', async () => {
    const world = await new World().start();
    const set = world.create(SETS, 'ns/rs');
    world.create(PODS, 'ns/p', {
      ownerReferences: [ownedBy(set, SETS)],
      finalizers: ['example.com/hold'],
    });
    world.delete(SETS, 'ns/rs', 'Foreground');
    await world.settle();
    expect(world.left()).toEqual(['pods ns/p']);
    expect(world.get(PODS, 'ns/p')?.metadata.deletionTimestamp).toBeDefined();
  });

  test('foreground: a reference that stops blocking lets the owner go', async () => {
    const world = await setWithPods(1);
    world.edit(PODS, 'ns/p0', { finalizers: ['example.com/hold'] });
    world.delete(SETS, 'ns/rs', 'Foreground');
    await world.settle();
    expect(world.left()).toContain('replicasets.apps ns/rs');
    const [reference] = world.get(PODS, 'ns/p0')!.metadata.ownerReferences!;
    world.edit(PODS, 'ns/p0', { ownerReferences: [{ ...reference!, blockOwnerDeletion: false }] });
    await world.settle();
    expect(world.left()).toEqual(['pods ns/p0']);
  });

  test('foreground goes down through all generations', async () => {
    const world = await setWithPods(1, SETS);
    const middle = world.get(SETS, 'ns/p0')!;
    world.create(PODS, 'ns/leaf', { ownerReferences: [ownedBy(middle, SETS, BLOCKS)] });
    world.delete(SETS, 'ns/rs', 'Foreground');
    await world.settle();
    expect(world.left()).toEqual([]);
    expect(world.writes).toContain('delete replicasets.apps ns/p0 Foreground');
    expect(world.writes.indexOf('delete pods ns/leaf Background')).toBeLessThan(
      world.writes.lastIndexOf('patch replicasets.apps ns/rs'),
    );
  });

  test('orphan: dependents stay and lose the reference', async () => {
    const world = await setWithPods(40);
    world.delete(SETS, 'ns/rs', 'Orphan');
    await world.settle();
    expect(world.left()).toHaveLength(40);
    expect(world.get(PODS, 'ns/p7')?.metadata.ownerReferences).toEqual([]);
  });

  test('orphan: a dependent that appears meanwhile is cut loose as well', async () => {
    const world = await setWithPods(1);
    const set = world.get(SETS, 'ns/rs')!;
    world.delete(SETS, 'ns/rs', 'Orphan');
    const [job] = world.waiting().filter(({ queue }) => queue.endsWith('orphan'));
    const syncing = world.sync(job!);
    world.create(PODS, 'ns/late', { ownerReferences: [ownedBy(set, SETS, BLOCKS)] });
    await syncing;
    await world.settle();
    expect(world.left()).toEqual(['pods ns/late', 'pods ns/p0']);
  });

  test('orphan wins over foreground when both are asked for', async () => {
    const world = new World([PODS, SETS], (filled) => {
      const finalizers = ['foregroundDeletion', 'orphan'];
      const deletionTimestamp = '2026-05-20T11:00:00Z';
      const set = filled.create(SETS, 'ns/rs', { finalizers, deletionTimestamp });
      filled.create(PODS, 'ns/p', { ownerReferences: [ownedBy(set, SETS, BLOCKS)] });
    });
    await world.start();
    await world.settle();
    expect(world.left()).toEqual(['pods ns/p']);
    expect(world.get(PODS, 'ns/p')?.metadata.ownerReferences).toEqual([]);
  });

  test('a circle of foreground deletions comes to its end', async () => {
    const world = await new World().start();
    const a = world.create(SETS, 'ns/a', { uid: 'a' });
    const b = world.create(SETS, 'ns/b', { uid: 'b' });
    world.edit(SETS, 'ns/a', { ownerReferences: [ownedBy(b, SETS, BLOCKS)] });
    world.edit(SETS, 'ns/b', { ownerReferences: [ownedBy(a, SETS, BLOCKS)] });
    await world.settle();
    expect(world.writes).toEqual([]);
    world.delete(SETS, 'ns/a', 'Foreground');
    await world.settle();
    expect(world.left()).toEqual([]);
  });
});

describe('custom kinds', () => {
  test('get merge patches once they refused a strategic one', async () => {
    const world = await setWithPods(3, WIDGETS);
    world.delete(SETS, 'ns/rs', 'Orphan');
    await world.settle();
    expect(world.left()).toHaveLength(3);
    expect(world.get(WIDGETS, 'ns/p0')?.metadata.ownerReferences).toEqual([]);
  });

  test('of a kind that nobody serves are asked for again, and never judged', async () => {
    const world = await new World().start();
    const gadget = { apiVersion: 'old.example.com/v1', kind: 'Gadget', name: 'g', uid: 'g' };
    world.create(PODS, 'ns/p', { ownerReferences: [gadget] });
    await world.settle();
    expect(world.left()).toEqual(['pods ns/p']);
    expect(world.waiting()).toHaveLength(1);
    const served = { ...kindOf('Gadget', { group: 'old.example.com' }) };
    world.serve(served);
    await world.settle();
    expect(world.left()).toEqual([]);
  });
});

describe('references', () => {
  test('several owners: the object stays while one is there, without the others', async () => {
    const world = await new World().start();
    const [a, b] = [world.create(SETS, 'ns/a'), world.create(SETS, 'ns/b')];
    world.create(PODS, 'ns/p', { ownerReferences: [ownedBy(a, SETS), ownedBy(b, SETS)] });
    world.delete(SETS, 'ns/a', 'Background');
    await world.settle();
    expect(world.get(PODS, 'ns/p')?.metadata.ownerReferences).toMatchObject([{ name: 'b' }]);
    world.delete(SETS, 'ns/b', 'Background');
    await world.settle();
    expect(world.left()).toEqual([]);
  });

  test('a waiting owner is dropped when another one is there', async () => {
    const world = await new World().start();
    const [a, b] = [world.create(SETS, 'ns/a'), world.create(SETS, 'ns/b')];
    const ownerReferences = [ownedBy(a, SETS, BLOCKS), ownedBy(b, SETS, BLOCKS)];
    world.create(PODS, 'ns/p', { ownerReferences });
    world.delete(SETS, 'ns/a', 'Foreground');
    await world.settle();
    expect(world.left()).toEqual(['pods ns/p', 'replicasets.apps ns/b']);
    expect(world.get(PODS, 'ns/p')?.metadata.ownerReferences).toMatchObject([{ name: 'b' }]);
  });

  test('to another UID under the same name are to nothing', async () => {
    const world = await new World().start();
    const old = world.create(SETS, 'ns/rs', { uid: 'old' });
    world.delete(SETS, 'ns/rs', 'Background');
    world.create(SETS, 'ns/rs', { uid: 'new' });
    world.create(PODS, 'ns/p', { ownerReferences: [ownedBy(old, SETS)] });
    await world.settle();
    expect(world.left()).toEqual(['replicasets.apps ns/rs']);
  });

  test('into another namespace are to nothing, and an event says so', async () => {
    const world = await new World().start();
    const set = world.create(SETS, 'one/rs', { uid: 'rs-uid' });
    world.create(PODS, 'two/p', { ownerReferences: [ownedBy(set, SETS)] });
    await world.settle();
    expect(world.left()).toEqual(['replicasets.apps one/rs']);
    expect(world.fakes.events.events).toMatchObject([
      {
        about: { kind: 'Pod', namespace: 'two', name: 'p' },
        type: 'Warning',
        reason: 'OwnerRefInvalidNamespace',
        message:
          'ownerRef [apps/v1/ReplicaSet, namespace: two, name: rs, uid: rs-uid] does not exist ' +
          'in namespace "two"',
      },
    ]);
  });

  test('the same when the dependent is seen before its owner', async () => {
    const world = await new World().start();
    const set = { metadata: { name: 'rs', uid: 'rs-uid', resourceVersion: '1' } };
    world.create(PODS, 'two/p', { ownerReferences: [ownedBy(set, SETS)] });
    world.create(SETS, 'one/rs', { uid: 'rs-uid' });
    await world.settle();
    expect(world.left()).toEqual(['replicasets.apps one/rs']);
    expect(world.fakes.events.events).toHaveLength(1);
  });

  test('of a cluster-scoped object to a namespaced one are never judged', async () => {
    const world = await new World().start();
    const set = { metadata: { name: 'rs', uid: 'rs-uid', resourceVersion: '1' } };
    world.create(NODES, 'n', { ownerReferences: [ownedBy(set, SETS)] });
    await world.settle();
    expect(world.left()).toEqual(['nodes n']);
    expect(world.waiting()).toEqual([]);
  });

  test('to cluster-scoped owners work from every namespace', async () => {
    const world = await new World().start();
    const node = world.create(NODES, 'n');
    for (const namespace of ['one', 'two']) {
      world.create(MAPS, `${namespace}/lease`, { ownerReferences: [ownedBy(node, NODES)] });
    }
    await world.settle();
    expect(world.left()).toHaveLength(3);
    world.delete(NODES, 'n', 'Background');
    await world.settle();
    expect(world.left()).toEqual([]);
  });

  test('with a wrong kind beside a right one: only the wrong one is to nothing', async () => {
    const world = await new World().start();
    const set = world.create(SETS, 'ns/rs', { uid: 'u' });
    world.create(PODS, 'ns/bad', { ownerReferences: [ownedBy(set, PODS)] });
    world.create(PODS, 'ns/good', { ownerReferences: [ownedBy(set, SETS)] });
    await world.settle();
    expect(world.left()).toEqual(['pods ns/good', 'replicasets.apps ns/rs']);
  });

  test('of dependents that call an unseen owner by different names are all tried', async () => {
    const world = await new World().start();
    const missing = { metadata: { name: 'gone', uid: 'u', resourceVersion: '1' } };
    for (const name of ['a', 'b', 'c']) {
      const reference = { ...ownedBy(missing, SETS), name };
      world.create(PODS, `ns/${name}`, { ownerReferences: [reference] });
    }
    await world.settle();
    expect(world.left()).toEqual([]);
  });
});

describe('what is read live', () => {
  test('an object whose owner came back in the meantime is kept', async () => {
    const world = await setWithPods(1);
    world.lagging = true;
    world.delete(SETS, 'ns/rs', 'Background');
    const other = world.create(SETS, 'ns/other');
    world.edit(PODS, 'ns/p0', { ownerReferences: [ownedBy(other, SETS)] });
    world.deliver(SETS);
    await world.settle();
    expect(world.left()).toContain('pods ns/p0');
  });

  test('a busy object is deleted all the same, one that got an owner is not', async () => {
    const world = await setWithPods(2);
    const other = world.create(SETS, 'ns/other');
    const { read } = world;
    let raced = 0;
    world.read = (resource, at) => {
      const object = read.call(world, resource, at);
      if (resource.kind !== 'Pod' || raced++ > 3) return object;
      const adopt = at.name === 'p1' ? { ownerReferences: [ownedBy(other, SETS)] } : {};
      world.edit(PODS, `ns/${at.name}`, { labels: { raced: String(raced) }, ...adopt });
      return object;
    };
    world.delete(SETS, 'ns/rs', 'Background');
    await world.settle();
    expect(world.left()).toEqual(['pods ns/p1', 'replicasets.apps ns/other']);
  });

  test('an error of the server brings the object back later', async () => {
    const world = await setWithPods(1);
    const { read } = world;
    world.read = () => {
      throw refusal(500, 'InternalError');
    };
    world.delete(SETS, 'ns/rs', 'Background');
    await world.settle();
    expect(world.left()).toEqual(['pods ns/p0']);
    world.read = read;
    await world.settle();
    expect(world.left()).toEqual([]);
  });
});

describe('a lead begins', () => {
  test('with what is there: nothing is read for owners that turn up later', async () => {
    const reads: string[] = [];
    const world = new World([PODS, SETS], (filled) => {
      const set = filled.create(SETS, 'ns/rs');
      filled.create(PODS, 'ns/p', { ownerReferences: [ownedBy(set, SETS)] });
      const gone = { metadata: { name: 'gone', uid: 'gone', resourceVersion: '1' } };
      filled.create(PODS, 'ns/q', { ownerReferences: [ownedBy(gone, SETS)] });
    });
    const { read } = world;
    world.read = (resource, at) => {
      reads.push(`${resource.plural} ${at.name}`);
      return read.call(world, resource, at);
    };
    expect(world.waiting()).toEqual([]);
    await world.start();
    await world.settle();
    expect(world.left()).toEqual(['pods ns/p', 'replicasets.apps ns/rs']);
    expect(reads).toEqual(['replicasets gone', 'pods q']);
  });

  test('in the middle of deletions: they go on', async () => {
    const world = new World([PODS, SETS], (filled) => {
      for (const [name, policy] of [
        ['back', 'Background'],
        ['fore', 'Foreground'],
        ['left', 'Orphan'],
      ] as const) {
        const set = filled.create(SETS, `ns/${name}`);
        const ownerReferences = [ownedBy(set, SETS, BLOCKS)];
        filled.create(PODS, `ns/of-${name}`, { ownerReferences });
        filled.delete(SETS, `ns/${name}`, policy);
      }
    });
    await world.start();
    await world.settle();
    expect(world.left()).toEqual(['pods ns/of-left']);
  });

  test('before the caches are complete: workers wait, thirty seconds at most', async () => {
    const world = new World();
    const informer = world.fakes.informers.followed.serve(PODS);
    informer.complete = false;
    let started = false;
    const starting = world.start().then(() => {
      started = true;
    });
    await world.fakes.clock.advance(29_000);
    expect(started).toBe(false);
    await world.fakes.clock.advance(2_000);
    expect(started).toBe(true);
    await starting;
    expect(await syncErrorsOf(world)).toBe(1);
  });
});

describe('resources come and go', () => {
  test('objects of a resource that is found later are collected', async () => {
    const world = await new World([SETS, PODS]).start();
    const { followed } = world.fakes.informers;
    world.serve(WIDGETS);
    const [added] = followed.list().slice(-1);
    followed.look({ added: [added!] });
    const set = world.create(SETS, 'ns/rs');
    world.create(WIDGETS, 'ns/w', { ownerReferences: [ownedBy(set, SETS)] });
    world.delete(SETS, 'ns/rs', 'Background');
    await world.settle();
    expect(world.left()).toEqual([]);
  });

  test('a resource that is lost holds nobody back, and its objects own nothing by hearsay', async () => {
    const world = await new World().start();
    const { followed } = world.fakes.informers;
    const set = world.create(SETS, 'ns/rs');
    const widget = world.create(WIDGETS, 'ns/w', {
      ownerReferences: [ownedBy(set, SETS, BLOCKS)],
    });
    world.create(PODS, 'ns/p', { ownerReferences: [ownedBy(widget, WIDGETS)] });
    const lost = followed.list().filter(({ resource }) => resource.kind === 'Widget');
    followed.look({ removed: lost });
    world.delete(SETS, 'ns/rs', 'Foreground');
    await world.settle();
    expect(world.left()).toEqual(['pods ns/p', 'widgets.example.com ns/w']);
  });

  test('trouble with discovery and incomplete caches are counted', async () => {
    const world = await new World().start();
    const { followed } = world.fakes.informers;
    const count = (): Promise<number> => syncErrorsOf(world);
    followed.look({ learned: 'nothing', problem: 'no route' });
    expect(await count()).toBe(1);
    followed.look();
    expect(await count()).toBe(1);
    followed.look({ learned: 'part', problem: 'example.com/v1: down' });
    expect(await count()).toBe(1);
    expect(world.fakes.lines).toContain('Failed to discover some groups');
    const [one] = followed.list();
    one!.informer.complete = false;
    followed.look({ added: [one!] });
    await world.fakes.clock.advance(31_000);
    expect(await count()).toBe(2);
  });
});

describe('the debug page', () => {
  test('shows the graph, or what a UID is linked to', async () => {
    const world = await new World().start();
    const set = world.create(SETS, 'ns/rs', { uid: 'u-rs' });
    world.create(PODS, 'ns/p', { uid: 'u-p', ownerReferences: [ownedBy(set, SETS)] });
    const other = world.create(SETS, 'ns/other', { uid: 'u-other' });
    world.create(PODS, 'ns/q', { uid: 'u-q', ownerReferences: [ownedBy(other, SETS)] });
    world.create(MAPS, 'ns/alone', { uid: 'u-alone' });
    const { debug } = world.controller;
    const page = (query = ''): string => {
      const answer = debug?.('/debug/controllers/x/graph', new URLSearchParams(query));
      expect(answer).toMatchObject({ contentType: 'text/vnd.graphviz' });
      return typeof answer === 'object' ? answer.text : '';
    };
    const all = page();
    expect(all).toStartWith('strict digraph full {\n  // Node definitions.\n  "u-other" [\n');
    expect(all).toContain('  "u-p" -> "u-rs";\n');
    expect(all).not.toContain('u-alone');
    expect(page('uid=u-p')).toBe(
      [
        'strict digraph full {',
        '  // Node definitions.',
        '  "u-p" [',
        '    label="uid=u-p\\nnamespace=ns\\nPod.v1/p\\n"',
        '    group=""',
        '    version="v1"',
        '    kind="Pod"',
        '    namespace="ns"',
        '    name="p"',
        '    uid="u-p"',
        '    missing="false"',
        '    beingDeleted="false"',
        '    deletingDependents="false"',
        '    virtual="false"',
        '  ];',
        '  "u-rs" [',
        '    label="uid=u-rs\\nnamespace=ns\\nReplicaSet.v1.apps/rs\\n"',
        '    group="apps"',
        '    version="v1"',
        '    kind="ReplicaSet"',
        '    namespace="ns"',
        '    name="rs"',
        '    uid="u-rs"',
        '    missing="false"',
        '    beingDeleted="false"',
        '    deletingDependents="false"',
        '    virtual="false"',
        '  ];',
        '  // Edge definitions.',
        '  "u-p" -> "u-rs";',
        '}',
        '',
      ].join('\n'),
    );
    expect(debug!('/debug/controllers/x/other', new URLSearchParams())).toBeUndefined();
  });
});
