import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { FencedError } from '../api/errors.ts';
import { PODS, REPLICA_SETS } from '../api/resource.ts';
import { FakeRun, refusal } from '../controllers/_kit/testing/fake-run.ts';
import { podRecordOf, replicaSetOf, WEB_LABELS } from '../controllers/_kit/testing/objects.ts';
import { type ClaimPass, carryOutClaims, decideClaims } from './claim.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const set = replicaSetOf();
const owner = { namespace: 'default', name: 'web', uid: 'uid-web', deleting: false };
const stranger = replicaSetOf({ meta: { name: 'other', uid: 'uid-other' } });
const pass: ClaimPass = {
  owner,
  ownerResource: REPLICA_SETS,
  resource: PODS,
  selectorText: 'app=web',
  guard: true,
};

const matches = (labels: Readonly<Record<string, string>>): boolean => labels.app === 'web';
const NOT_MATCHING = { app: 'db' };

describe('decideClaims', () => {
  test.each([
    ['own and matching', { owner: set }, false, 'keep'],
    ['own and matching, owner being deleted', { owner: set }, true, 'keep'],
    ['own and matching, itself being deleted', { owner: set, deletedAt: NOW }, false, 'keep'],
    ['own and not matching', { owner: set, labels: NOT_MATCHING }, false, 'release'],
    ['own and not matching, owner being deleted', { owner: set, labels: NOT_MATCHING }, true, ''],
    ['of another', { owner: stranger }, false, ''],
    ['matching orphan', {}, false, 'adopt'],
    ['matching orphan, owner being deleted', {}, true, ''],
    ['matching orphan, itself being deleted', { deletedAt: NOW }, false, ''],
    ['orphan that does not match', { labels: NOT_MATCHING }, false, ''],
  ])('%s', (_name, facts, deleting, what) => {
    const pod = podRecordOf(facts);
    const claims = decideClaims({ owner: { ...owner, deleting }, matches, candidates: [pod] });
    const expected = { keep: [], adopt: [], release: [], ...(what ? { [what]: [pod] } : {}) };
    expect(claims).toEqual(expected);
  });

  test('an orphan in another namespace is none of its business', () => {
    const pod = { ...podRecordOf(), namespace: 'elsewhere' };
    const claims = decideClaims({ owner, matches, candidates: [pod] });
    expect(claims.adopt).toEqual([]);
    const everywhere = { ...owner, namespace: '' };
    expect(decideClaims({ owner: everywhere, matches, candidates: [pod] }).adopt).toEqual([pod]);
  });

  test('nothing is claimed twice, and a deleting owner claims only what it has', () => {
    const facts = fc.record({
      owner: fc.constantFrom(undefined, set, stranger),
      labels: fc.constantFrom(WEB_LABELS, NOT_MATCHING),
      deletedAt: fc.constantFrom(undefined, NOW),
    });
    fc.assert(
      fc.property(fc.array(facts), fc.boolean(), (pods, deleting) => {
        const candidates = pods.map((one, i) => podRecordOf({ ...one, name: `p-${i}` }));
        const claims = decideClaims({ owner: { ...owner, deleting }, matches, candidates });
        const all = [...claims.keep, ...claims.adopt, ...claims.release];
        expect(new Set(all).size).toBe(all.length);
        if (deleting) expect(all).toEqual([...claims.keep]);
        for (const pod of all) expect(candidates).toContain(pod);
      }),
    );
  });
});

describe('carryOutClaims', () => {
  const kept = podRecordOf({ name: 'kept', owner: set });
  const orphan = podRecordOf({ name: 'orphan' });
  const second = podRecordOf({ name: 'second' });
  const leaving = podRecordOf({ name: 'leaving', owner: set, labels: NOT_MATCHING });
  const none = { keep: [], adopt: [], release: [] };

  function runWith(...live: readonly ReturnType<typeof replicaSetOf>[]): FakeRun {
    const run = new FakeRun(NOW);
    run.live(REPLICA_SETS, ...live);
    return run;
  }

  test('without adoptions and releases nothing is read or written', async () => {
    const run = runWith();
    expect(await carryOutClaims(run, pass, { ...none, keep: [kept] })).toEqual([kept]);
    expect(run.reads).toEqual([]);
    expect(run.writes).toEqual([]);
  });

  test('adopts after one live read of the owner', async () => {
    const run = runWith(set);
    const claims = { ...none, keep: [kept], adopt: [orphan, second] };
    expect(await carryOutClaims(run, pass, claims)).toEqual([kept, orphan, second]);
    expect(run.reads).toEqual(['replicasets.apps default/web']);
    expect(run.writes.map(({ key }) => key)).toEqual(['default/orphan', 'default/second']);
    expect(run.writes[0]).toEqual({
      verb: 'patch',
      resource: 'pods',
      key: 'default/orphan',
      body: {
        metadata: {
          ownerReferences: [
            {
              apiVersion: 'apps/v1',
              kind: 'ReplicaSet',
              name: 'web',
              uid: 'uid-web',
              controller: true,
              blockOwnerDeletion: true,
            },
          ],
          uid: 'uid-orphan',
        },
      },
      because: 'Pod orphan has no controller and its labels match "app=web": adopting it',
      guard: { ownerKey: 'default/web', ownerUid: 'uid-web' },
      uid: undefined,
    });
  });

  test('what is adopted gets the finalizers of the pass, what is released loses them', async () => {
    const run = runWith(set);
    const finalizers = ['example.com/held'];
    const claims = { ...none, adopt: [orphan], release: [leaving] };
    await carryOutClaims(run, { ...pass, finalizers }, claims);
    expect(run.writes.map(({ body }) => body)).toMatchObject([
      { metadata: { uid: 'uid-orphan', finalizers } },
      { metadata: { uid: 'uid-leaving', '$deleteFromPrimitiveList/finalizers': finalizers } },
    ]);
  });

  test('releases without reading the owner, and the guard does not wait for it', async () => {
    const run = runWith();
    expect(await carryOutClaims(run, pass, { ...none, release: [leaving] })).toEqual([]);
    expect(run.reads).toEqual([]);
    expect(run.writes).toMatchObject([
      {
        verb: 'patch',
        key: 'default/leaving',
        body: {
          metadata: {
            ownerReferences: [{ $patch: 'delete', uid: 'uid-web' }],
            uid: 'uid-leaving',
          },
        },
        because: 'labels of Pod leaving no longer match "app=web": releasing it',
        guard: undefined,
      },
    ]);
  });

  test.each([
    ['gone', [], "can't recheck DeletionTimestamp: default/web not found"],
    [
      'replaced',
      [replicaSetOf({ meta: { uid: 'uid-new' } })],
      "can't recheck DeletionTimestamp: original ReplicaSet default/web is gone: " +
        'got uid uid-new, wanted uid-web',
    ],
    [
      'being deleted',
      [replicaSetOf({ meta: { deletionTimestamp: '2026-01-01T11:00:00Z' } })],
      'default/web has just been deleted at 2026-01-01T11:00:00Z',
    ],
  ])('adopts nothing if the owner is %s', async (_name, live, text) => {
    const run = runWith(...live);
    const result = carryOutClaims(run, pass, { ...none, keep: [kept], adopt: [orphan] });
    await expect(result).rejects.toThrow(`can't adopt Pod default/orphan (uid-orphan): ${text}`);
    expect(run.writes).toEqual([]);
  });

  test('what is gone is left out, and no error', async () => {
    const run = runWith(set);
    run.failNext('patch', refusal(404, 'NotFound'));
    const claims = { ...none, adopt: [orphan, second] };
    expect(await carryOutClaims(run, pass, claims)).toEqual([second]);
  });

  test.each([
    [404, 'NotFound'],
    [422, 'Invalid'],
  ] as const)('a release may be answered %d %s', async (code, reason) => {
    const run = runWith();
    run.failNext('patch', refusal(code, reason));
    expect(await carryOutClaims(run, pass, { ...none, release: [leaving] })).toEqual([]);
  });

  test('an adoption may not: another controller was faster', async () => {
    const run = runWith(set);
    const invalid = refusal(422, 'Invalid', 'Only one reference can have Controller set to true');
    run.failNext('patch', invalid);
    await expect(carryOutClaims(run, pass, { ...none, adopt: [orphan] })).rejects.toBe(invalid);
  });

  test('one failure does not stop the others; several are told together, each text once', async () => {
    const run = runWith(set);
    run.failNext('patch', refusal(403, 'Forbidden', 'no'));
    run.failNext('patch', refusal(403, 'Forbidden', 'no'));
    run.failNext('patch', refusal(500, 'InternalError', 'broken'));
    const claims = { keep: [], adopt: [orphan, second], release: [leaving] };
    const result = carryOutClaims(run, pass, claims);
    await expect(result).rejects.toThrow('[no, broken]');
    expect(run.writes).toHaveLength(3);
  });

  test('a lost lead ends the pass at once', async () => {
    const run = runWith(set);
    const fenced = new FencedError();
    run.failNext('patch', fenced);
    const claims = { ...none, adopt: [orphan, second] };
    const result = carryOutClaims(run, pass, claims);
    await expect(result).rejects.toBe(fenced);
    expect(run.writes).toHaveLength(1);
  });
});
