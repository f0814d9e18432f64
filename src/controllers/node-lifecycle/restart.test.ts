import { describe, expect, test } from 'bun:test';
import { FencedError } from '../../api/errors.ts';
import { PODS } from '../../api/resource.ts';
import { FakeRun } from '../_kit/testing/fake-run.ts';
import { podOf } from '../_kit/testing/objects.ts';
import { UNREACHABLE } from './decide-node.ts';
import { GRACE_MS, NOW, nodeOf, restarted, Stage } from './testing/stage.ts';

describe('after a restart', () => {
  test('30 s of silence are 10 s before 40', async () => {
    const before = new Stage([nodeOf('a'), nodeOf('b')]);
    await before.look();
    await before.pass(30_000);
    const after = restarted(before);
    await after.look();
    await after.fakes.clock.advance(9_999);
    await after.look();
    expect(after.statusOf('a')).toBe('True');
    await after.fakes.clock.advance(2);
    await after.look();
    expect(after.statusOf('a')).toBe('Unknown');
    expect(after.told).not.toContain('RegisteredNode');
  });

  test('a heartbeat in between, a new node of that name, and no memory give the whole grace', async () => {
    const before = new Stage([nodeOf('a'), nodeOf('b'), nodeOf('c')]);
    await before.look();
    await before.pass(30_000);
    before.nodes.put(nodeOf('a', { heartbeat: 'h2' }), nodeOf('b', { uid: 'new' }));
    const forgetful = restarted(before);
    for (const stage of [restarted(before), forgetful]) {
      if (stage === forgetful)
        for (const row of stage.fakes.memory.all()) stage.fakes.memory.delete(row);
      await stage.look();
      await stage.fakes.clock.advance(11_000);
      await stage.look();
      expect(['a', 'b'].map((name) => stage.statusOf(name))).toEqual(['True', 'True']);
    }
  });

  test('a node that beats leaves nothing behind but that it is known', async () => {
    const stage = new Stage([nodeOf('a')]);
    await stage.look();
    const rows = () =>
      stage.fakes.memory.all().map(({ controller, key }) => `${controller} ${key}`);
    const first = rows();
    expect(first).toEqual(['nodes a', 'zones zone ']);
    const times = stage.fakes.memory.all().map(({ updatedAt }) => updatedAt);
    for (let at = 2; at < 30; at++) {
      stage.nodes.put(nodeOf('a', { heartbeat: `h${at}` }));
      await stage.pass(10_000);
    }
    expect(rows()).toEqual(first);
    expect(stage.fakes.memory.all().map(({ updatedAt }) => updatedAt)).toEqual(times);
  });

  test('who waits for a taint waits on, and no token is given twice', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const before = new Stage(
      names.map((name) => nodeOf(name, { ready: name < 'd' ? 'Unknown' : 'True' })),
    );
    for (const name of ['d', 'e', 'f', 'g']) before.nodes.put(nodeOf(name));
    await before.look();
    await before.taint();
    const tainted = (stage: Stage) => names.filter((name) => stage.taintsOf(name).length > 0);
    expect(tainted(before)).toHaveLength(1);
    const after = restarted(before);
    await after.look();
    await after.taint();
    expect(tainted(after)).toHaveLength(1);
    await after.fakes.clock.advance(10_000);
    await after.taint();
    expect(tainted(after)).toHaveLength(2);
  });

  test('a node that was taken away is told, and a right taint is left alone', async () => {
    const before = new Stage([nodeOf('a'), nodeOf('gone')]);
    await before.look();
    before.nodes.remove(nodeOf('gone'));
    const taints = [{ ...UNREACHABLE, timeAdded: '2026-11-30T05:00:00Z' }];
    before.nodes.put(nodeOf('lost', { ready: 'Unknown', taints }));
    const after = restarted(before);
    const looked = await after.look();
    const passed = await after.taint();
    expect([...looked.writes, ...passed.writes]).toEqual([]);
    expect(after.told).toEqual(['RegisteredNode', 'RemovingNode']);
  });

  test('a node that never spoke gets no new minute', async () => {
    const before = new Stage([nodeOf('b'), nodeOf('mute', { ready: '', createdAt: NOW })]);
    await before.look();
    await before.pass(40_000);
    const after = restarted(before);
    await after.look();
    await after.fakes.clock.advance(20_000);
    await after.look();
    expect(after.statusOf('mute')).toBeUndefined();
    await after.fakes.clock.advance(1);
    await after.look();
    expect(after.statusOf('mute')).toBe('Unknown');
  });
});

describe('a node that was called lost by a process that died then', () => {
  const WEB = podOf({ name: 'web' });

  /** The status of the node is written, and nothing after it. */
  async function died(): Promise<Stage> {
    const before = new Stage([nodeOf('node-1'), nodeOf('b')]);
    before.fakes.informers.pods().put(WEB);
    await before.look();
    await before.fakes.clock.advance(GRACE_MS + 1);
    before.nodes.put(nodeOf('b', { heartbeat: 'h2' }));
    const run = new FakeRun(NOW);
    const patch = run.patch.bind(run);
    run.patch = async (resource, ...rest) => {
      if (resource === PODS) throw new FencedError('it died');
      return await patch(resource, ...rest);
    };
    await before.look(run).catch(() => undefined);
    before.nodes.put(nodeOf('node-1', { ready: 'Unknown' }));
    return before;
  }

  const marked = async (stage: Stage): Promise<string[]> => {
    const { writes } = await stage.look();
    return writes.flatMap(({ resource, key }) => (resource === 'pods/status' ? key : []));
  };

  test('has its pods marked by the next one, once', async () => {
    const after = restarted(await died());
    after.fakes.informers.pods().put(WEB);
    expect(await marked(after)).toEqual(['default/web']);
    expect(await marked(after)).toEqual([]);
    expect(after.fakes.memory.all().map(({ controller }) => controller)).not.toContain('unmarked');
  });

  test('keeps them if it is another one by now, or without memory, as upstream', async () => {
    const renewed = await died();
    renewed.nodes.put(nodeOf('node-1', { ready: 'Unknown', uid: 'new' }));
    const forgetful = restarted(await died());
    for (const row of forgetful.fakes.memory.all()) forgetful.fakes.memory.delete(row);
    const forgotten = new Stage(
      [nodeOf('node-1', { ready: 'Unknown' }), nodeOf('b')],
      forgetful.fakes,
    );
    for (const stage of [restarted(renewed), forgotten]) {
      stage.fakes.informers.pods().put(WEB);
      expect(await marked(stage)).toEqual([]);
    }
  });
});
