import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { cleanUp } from './cleanup.ts';
import { deployment, NOON, type ReplicaSetOptions, replicaSet } from './testing/build.ts';
import { refusal, Server } from './testing/server.ts';
import { inShort, knowledgeOf } from './testing/steps.ts';

const REVISION = 'deployment.kubernetes.io/revision';

interface Old extends ReplicaSetOptions {
  readonly size?: number;
  readonly revision?: string;
}

/** Old ReplicaSets foo-1, foo-2, ..., created in this order. */
function cleaned(limit: number | undefined, olds: readonly Old[]): string[] {
  const server = stage(limit, olds);
  return inShort(server.play(cleanUp(knowledgeOf(server), [...server.replicaSets.values()]))).map(
    (step) => step.replace('deleteReplicaSet ', ''),
  );
}

function stage(limit: number | undefined, olds: readonly Old[]): Server {
  const sets = olds.map(({ size = 0, revision, ...options }, index) => {
    const annotations: Record<string, string> =
      revision === undefined ? {} : { [REVISION]: revision };
    const age = olds.length - index;
    return replicaSet(`foo-${index + 1}`, size, { age, annotations, ...options });
  });
  return new Server(deployment({ revisionHistoryLimit: limit }), sets, NOON);
}

describe('clean-up', () => {
  test.each<[string, number | undefined, Old[], string[]]>([
    ['beyond the limit', 1, [{}, {}, {}], ['foo-1', 'foo-2']],
    ['limit 0', 0, [{}, {}], ['foo-1', 'foo-2']],
    [
      'only empty ones',
      0,
      [{}, { status: { replicas: 1 } }, { size: 1, status: { replicas: 0 } }, { size: 1 }],
      ['foo-1'],
    ],
    ['only those observed at 0', 0, [{ generation: 2, status: { observedGeneration: 1 } }], []],
    ['those being deleted neither go nor count', 1, [{ deleting: true }, {}], []],
    ['no limit', undefined, [{}, {}], []],
    ['highest int32 is no limit', 2 ** 31 - 1, [{}, {}], []],
    ['fewer than the limit', 5, [{}, {}], []],
  ])('%s', (_, limit, olds, expected) => {
    expect(cleaned(limit, olds)).toEqual(expected);
  });

  const revised = (...revisions: (string | undefined)[]) =>
    revisions.map((revision) => ({ revision }));

  test.each<[string, number, Old[], string[]]>([
    ['lowest first', 1, revised('1', '2'), ['foo-1']],
    ['lowest first, not the oldest', 1, revised('2', '1'), ['foo-2']],
    ['none counts as 0', 1, revised('1', undefined), ['foo-2']],
    ['several', 2, revised('3', '1', '4', '2'), ['foo-2', 'foo-4']],
    ['one in use is kept', 1, [{ size: 1, revision: '1' }, ...revised('2', '3')], ['foo-2']],
    [
      'no substitute for those in use',
      1,
      [{ size: 1, revision: '1' }, { size: 1, revision: '2' }, { revision: '3' }],
      [],
    ],
    ['same revision: oldest first', 1, revised('1', '1'), ['foo-1']],
  ])('order of revisions: %s', (_, limit, olds, expected) => {
    expect(cleaned(limit, olds)).toEqual(expected);
  });

  test('one that is gone already is no error, any other refusal ends it', () => {
    const gone = stage(0, [{}, {}]);
    gone.refuse = () => refusal(404, 'NotFound');
    gone.play(cleanUp(knowledgeOf(gone), [...gone.replicaSets.values()]));
    expect(gone.actions).toHaveLength(2);
    const busy = stage(0, [{}, {}]);
    busy.refuse = () => refusal(429, 'TooManyRequests', 'slow down');
    const all = [...busy.replicaSets.values()];
    expect(() => busy.play(cleanUp(knowledgeOf(busy), all))).toThrow('slow down');
    expect(busy.actions).toHaveLength(1);
  });

  test('it never touches the new ReplicaSet, nor one with pods', () => {
    const olds = fc.array(
      fc.record({
        size: fc.integer({ min: 0, max: 2 }),
        revision: fc.option(fc.integer({ min: 0, max: 9 }).map(String), { nil: undefined }),
        deleting: fc.boolean(),
      }),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(olds, fc.integer({ min: 0, max: 4 }), fc.boolean(), (list, limit, paused) => {
        const owner = deployment({ replicas: 3, paused, revisionHistoryLimit: limit });
        const sets = list.map(({ revision = 'none', ...old }, index) =>
          replicaSet(`old-${index}`, old.size, {
            ...old,
            image: `old:${index}`,
            annotations: { [REVISION]: revision },
          }),
        );
        const server = new Server(owner, [replicaSet('new', 3, {}, owner), ...sets], NOON);
        for (let sync = 0; sync < 6; sync++) server.sync();
        expect(server.replicaSets.has('new')).toBe(true);
        for (const action of server.actions) {
          if (action.kind !== 'deleteReplicaSet') continue;
          expect(action.replicaSet.spec?.replicas).toBe(0);
          expect(action.replicaSet.status?.replicas).toBe(0);
        }
      }),
    );
  });
});
