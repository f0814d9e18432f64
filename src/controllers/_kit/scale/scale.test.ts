import { describe, expect, test } from 'bun:test';
import { ApiError } from '../../../api/errors.ts';
import type { Resource } from '../../../api/resource.ts';
import type { ControllerContext, DiscoveryResult } from '../../../runtime/controller.ts';
import { fakeClock } from '../../../runtime/testing/fake-clock.ts';
import { FakeRun, refusal } from '../testing/fake-run.ts';
import { Kinds, NoKindMatch } from './kinds.ts';
import { type Scale, Scales, scaleSelector } from './scales.ts';
import { inUpstreamWords } from './words.ts';

const shelves = (version: string, more: Partial<Resource> = {}) => ({
  group: 'example.com',
  version,
  plural: 'shelves',
  kind: 'Shelf',
  namespaced: true,
  verbs: [],
  ...more,
});

function setUp() {
  const clock = fakeClock(0);
  let looks = 0;
  let found: DiscoveryResult = {
    groups: [{ name: 'example.com', preferredVersion: 'v2' }],
    resources: [shelves('v1'), shelves('v2'), shelves('v1', { plural: 'racks', kind: 'Rack' })],
    failed: new Map(),
  };
  const discovery = async () => {
    looks++;
    return found;
  };
  const kinds = new Kinds({ discovery, clock });
  const serve = (...resources: DiscoveryResult['resources']) => {
    found = { ...found, resources };
  };
  return { clock, kinds, serve, looks: () => looks };
}

describe('kinds', () => {
  test('are found in a version, or in the one that is preferred', async () => {
    const { kinds, looks } = setUp();
    expect(await kinds.mapping('example.com', 'v1', 'Shelf')).toMatchObject({ version: 'v1' });
    expect(await kinds.mapping('example.com', '', 'Shelf')).toMatchObject({ version: 'v2' });
    expect(await kinds.mapping('example.com', '', 'rack')).toMatchObject({ plural: 'racks' });
    expect(await kinds.mappings('example.com', 'Shelf')).toHaveLength(1);
    expect(await kinds.versions('example.com', 30_000)).toEqual(['v2', 'v1']);
    expect(await kinds.versions('none', 30_000)).toBeUndefined();
    expect(looks()).toBe(1);
  });

  test("that are missing are told in upstream's words", async () => {
    const { kinds } = setUp();
    const ask = (group: string, version: string) => kinds.mapping(group, version, 'Ghost');
    expect(ask('example.com', 'v1')).rejects.toThrow(
      'no matches for kind "Ghost" in version "example.com/v1"',
    );
    expect(ask('', 'v1')).rejects.toThrow('no matches for kind "Ghost" in version "v1"');
    expect(ask('example.com', '')).rejects.toThrow(
      'no matches for kind "Ghost" in group "example.com"',
    );
    expect(kinds.mappings('', 'Ghost')).rejects.toBeInstanceOf(NoKindMatch);
  });

  test('are asked for again after a while, a missing one sooner', async () => {
    const { kinds, clock, serve, looks } = setUp();
    await kinds.mapping('example.com', '', 'Shelf');
    serve(shelves('v1', { plural: 'ghosts', kind: 'Ghost' }));
    expect(kinds.mapping('example.com', '', 'Ghost')).rejects.toThrow();
    await clock.advance(5_000);
    await Promise.all([
      kinds.mapping('example.com', '', 'Ghost'),
      kinds.mapping('example.com', 'v1', 'Ghost'),
    ]);
    expect(looks()).toBe(2);
    await clock.advance(30_000);
    await kinds.mapping('example.com', '', 'Ghost');
    expect(looks()).toBe(3);
  });
});

const scaleOf = (status: object): Scale =>
  ({
    metadata: { name: 's', namespace: 'ns', uid: 'u', resourceVersion: '1' },
    spec: { replicas: 2 },
    status,
  }) as Scale;

describe('the selector of a scale', () => {
  test.each([
    [{}, ''],
    [{ selector: 'b=2,a==1' }, 'a=1,b=2'],
    [{ selector: 'a!=1' }, 'a notin (1)'],
    [{ selector: { b: '2', a: '1' } }, 'a=1,b=2'],
    [{ selector: { a: '1' }, targetSelector: 'c in (x)' }, 'c in (x)'],
  ])('%p is %p', (status, text) => {
    expect(scaleSelector(scaleOf(status))).toBe(text);
  });

  test('may be unreadable', () => {
    const words =
      'received an object from a /scale endpoint which was not convertible to autoscaling Scale: ' +
      'failed to parse target selector: ';
    expect(() => scaleSelector(scaleOf({ selector: 'a b' }))).toThrow(
      `${words}couldn't parse the selector string "a b": unable to parse requirement: ` +
        "found 'b', expected: in, notin, =, ==, !=, gt, lt",
    );
    expect(() => scaleSelector(scaleOf({ selector: 'a>1' }))).toThrow(
      `${words}"gt" isn't supported in label selectors`,
    );
  });
});

describe('scales', () => {
  const at = { namespace: 'ns', name: 's' };

  function withScales(resources: object[] = [], served?: ReturnType<typeof shelves>) {
    const paths: string[] = [];
    const getPath = async (path: string) => {
      paths.push(path);
      return JSON.stringify({ resources });
    };
    const client = { getPath } as unknown as ControllerContext['client'];
    const { kinds, serve } = setUp();
    if (served !== undefined) serve(served);
    return { scales: new Scales(kinds, client), run: new FakeRun(0), paths };
  }

  test('are read and written in the version that is preferred', async () => {
    const { scales, run } = withScales();
    run.live(shelves('v2'), scaleOf({ selector: 'a=1' }));
    const scale = await scales.get(run, shelves('v1'), at);
    const because = 'a test';
    await scales.update(run, shelves('v1'), scale, { namespace: 'ns', replicas: 5, because });
    expect(run.writes).toMatchObject([
      { verb: 'update', resource: 'shelves.example.com/scale', body: { spec: { replicas: 5 } } },
    ]);
  });

  test('of a kind without namespaces are looked for in one: nobody reaches beyond his own', async () => {
    const plains = shelves('v2', { namespaced: false });
    const { scales, run } = withScales([], plains);
    const asked: object[] = [];
    const noted = <F extends 'get' | 'update'>(verb: F): void => {
      const call = run[verb].bind(run) as (...args: unknown[]) => unknown;
      run[verb] = ((resource: Resource, at: object, ...rest: unknown[]) => {
        asked.push({ namespaced: resource.namespaced, ...at });
        return call(resource, at, ...rest);
      }) as FakeRun[F];
    };
    noted('get');
    noted('update');
    run.live(shelves('v2'), scaleOf({ selector: 'a=1' }));
    const { metadata, ...rest } = await scales.get(run, plains, at);
    const { namespace: _, ...unplaced } = metadata;
    const scale = { ...rest, metadata: unplaced };
    const because = 'a test';
    await scales.update(run, plains, scale, { namespace: 'ns', replicas: 5, because });
    const inside = { namespaced: true, ...at, subresource: 'scale' };
    expect(asked).toEqual([inside, inside]);
  });

  test('an answer that is no Status is put as upstream puts it', async () => {
    const { scales, run } = withScales();
    const generic = 'the server could not find the requested resource';
    run.failNext('get', new ApiError(404, `${generic} (GET /apis/example.com/v2/x)`));
    expect(scales.get(run, shelves('v1'), at)).rejects.toThrow(`${generic} (get shelves s)`);
    const told = refusal(404, 'NotFound', 'shelves "s" not found (GET /x)');
    expect(inUpstreamWords(told, 'anything')).toBe(told);
  });

  test('which kinds have one is asked of the version itself', async () => {
    const scale = { name: 'shelves/scale', group: 'autoscaling', version: 'v1', kind: 'Scale' };
    const { scales, run, paths } = withScales([scale]);
    expect(await scales.implemented(run, shelves('v1'))).toBe(true);
    expect(await scales.implemented(run, shelves('v1', { plural: 'racks' }))).toBe(false);
    expect(paths[0]).toBe('/apis/example.com/v1');
    const other = withScales([{ ...scale, kind: 'Size' }]);
    expect(await other.scales.implemented(run, shelves('v1', { group: '' }))).toBe(false);
    expect(other.paths).toEqual(['/api/v1']);
  });
});
