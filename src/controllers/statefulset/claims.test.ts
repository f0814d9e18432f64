/** Claims: created before their pod, kept, and owned as the retention policy asks. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { controllerReference } from '../../api/meta.ts';
import { DEPLOYMENTS, PODS, STATEFUL_SETS } from '../../api/resource.ts';
import type { OwnerReference, StatefulSet } from '../../api/types/index.ts';
import { refusal } from '../_kit/testing/fake-run.ts';
import { newClaims } from './pod.ts';
import { isOwnershipRight, isStaleClaim, withRightOwners } from './retention.ts';
import { claim, pod, statefulSet, template } from './testing/build.ts';
import { Server } from './testing/server.ts';
import { eventsOf, podWritesOf } from './testing/steps.ts';

const bySet = controllerReference({ name: 'web', uid: 'set-uid' }, STATEFUL_SETS);
const byPod = (ordinal: number) =>
  controllerReference({ name: `web-${ordinal}`, uid: `web-${ordinal}-uid` }, PODS);
const byFormerSet = { ...bySet, uid: 'former' };
const byFormerPod = { ...byPod(0), uid: 'former' };
const byOther = controllerReference({ name: 'other', uid: 'other-uid' }, DEPLOYMENTS);

type When = 'Retain' | 'Delete';

function setOf(whenDeleted: When, whenScaled: When): StatefulSet {
  return statefulSet({ claims: ['data'], replicas: 1, policy: { whenDeleted, whenScaled } });
}

/** Pod 0 is wanted, pod 1 is scaled away. */
function members(set: StatefulSet) {
  const [kept, scaled] = new Server(set, pod(0), pod(1)).members();
  return { kept: kept!, scaled: scaled! };
}

test('a claim lacks what only a newer API server knows of its template', () => {
  const set = statefulSet({ claims: ['data'] });
  const fieldOfNextYear: object = { fieldOfNextYear: true };
  const volumeClaimTemplates = set.spec?.volumeClaimTemplates?.map((given) => ({
    ...given,
    metadata: { ...given.metadata, ...fieldOfNextYear },
    spec: { ...given.spec, ...fieldOfNextYear },
  }));
  const newer = set.spec && { ...set, spec: { ...set.spec, volumeClaimTemplates } };
  expect(newClaims(newer ?? set, 0)).toEqual(newClaims(set, 0));
});

describe('who owns a claim', () => {
  test.each<[When, When, OwnerReference[], OwnerReference[]]>([
    ['Retain', 'Retain', [], []],
    ['Delete', 'Retain', [bySet], [bySet]],
    ['Retain', 'Delete', [], [byPod(1)]],
    ['Delete', 'Delete', [bySet], [byPod(1)]],
  ])('whenDeleted %s, whenScaled %s', (whenDeleted, whenScaled, ofKept, ofScaled) => {
    const set = setOf(whenDeleted, whenScaled);
    const { kept, scaled } = members(set);
    for (const [member, wanted] of [
      [kept, ofKept],
      [scaled, ofScaled],
    ] as const) {
      const own = member === kept ? byPod(0) : byPod(1);
      for (const found of [[], [bySet], [own], [bySet, own]]) {
        const before = claim('c', found);
        const right = isOwnershipRight(before, set, member);
        expect(right).toBe(JSON.stringify(found) === JSON.stringify(wanted));
        if (right) continue;
        const after = withRightOwners(before, set, member);
        expect(after.metadata.ownerReferences).toEqual(wanted);
      }
    }
  });

  test('without a policy, or with one nobody knows, nobody does', () => {
    const policies = [undefined, { whenDeleted: 'Sometimes', whenScaled: 'Delete' }];
    for (const policy of policies) {
      const set = statefulSet({ claims: ['data'], replicas: 1, policy });
      const { scaled } = members(set);
      expect(isOwnershipRight(claim('c'), set, scaled)).toBe(true);
      const after = withRightOwners(claim('c', [bySet]), set, scaled);
      expect(after.metadata.ownerReferences).toEqual([]);
    }
  });

  test('an owner that does not control is made to, or removed', () => {
    const loose = { ...bySet, controller: undefined };
    for (const whenDeleted of ['Retain', 'Delete'] as const) {
      const set = setOf(whenDeleted, 'Retain');
      const { kept } = members(set);
      expect(isOwnershipRight(claim('c', [loose]), set, kept)).toBe(false);
      const after = withRightOwners(claim('c', [loose]), set, kept);
      expect(after.metadata.ownerReferences).toEqual(whenDeleted === 'Delete' ? [bySet] : []);
    }
  });

  test('a claim that names a former set or pod is left alone', () => {
    const set = setOf('Delete', 'Delete');
    const { kept } = members(set);
    for (const former of [byFormerSet, byFormerPod]) {
      expect(isOwnershipRight(claim('c', [former]), set, kept)).toBe(true);
    }
  });

  test('with another controller none of ours is added, and ours are removed', () => {
    const set = setOf('Delete', 'Delete');
    const { kept } = members(set);
    expect(isOwnershipRight(claim('c', [byOther]), set, kept)).toBe(true);
    const both = claim('c', [byOther, bySet]);
    expect(isOwnershipRight(both, set, kept)).toBe(false);
    expect(withRightOwners(both, set, kept).metadata.ownerReferences).toEqual([byOther]);
    const keeping = setOf('Retain', 'Retain');
    expect(isOwnershipRight(claim('c', [byOther]), keeping, kept)).toBe(true);
  });

  test('owners of others always stay, and one repair is enough', () => {
    const references = [bySet, byPod(0), byOther, { ...byOther, controller: undefined }];
    const whens = fc.constantFrom<When>('Retain', 'Delete');
    fc.assert(
      fc.property(fc.subarray(references), whens, whens, (found, whenDeleted, whenScaled) => {
        const set = setOf(whenDeleted, whenScaled);
        const { kept } = members(set);
        const after = withRightOwners(claim('c', found), set, kept);
        expect(isOwnershipRight(after, set, kept)).toBe(true);
        const others = found.filter(({ name }) => name === 'other');
        expect(after.metadata.ownerReferences?.filter(({ name }) => name === 'other')).toEqual(
          others,
        );
      }),
    );
  });
});

describe('a stale claim', () => {
  test('is one of a former pod, with whenScaled=Delete only', () => {
    const planned = { ...members(setOf('Retain', 'Delete')).kept, uid: '' };
    expect(isStaleClaim(claim('c', [byPod(0)]), setOf('Retain', 'Delete'), planned)).toBe(true);
    expect(isStaleClaim(claim('c', [bySet]), setOf('Retain', 'Delete'), planned)).toBe(false);
    expect(isStaleClaim(claim('c', [byPod(0)]), setOf('Delete', 'Retain'), planned)).toBe(false);
  });

  test('holds up its pod', () => {
    const server = new Server(setOf('Retain', 'Delete'), claim('data-web-0', [byFormerPod]));
    expect(podWritesOf(server.sync())).toEqual([]);
    server.claims.delete('data-web-0');
    expect(podWritesOf(server.sync())).toEqual(['createClaim data-web-0', 'createPod web-0']);
  });
});

describe('creating claims', () => {
  test('one of each template, before the pod, which mounts them first', () => {
    const volumes = [
      { name: 'scratch', emptyDir: {} },
      { name: 'data', emptyDir: {} },
    ];
    const { spec } = template();
    const server = new Server(
      statefulSet({
        claims: ['data', 'logs'],
        template: { ...template(), spec: { ...spec!, volumes } },
      }),
    );
    const actions = server.sync();
    expect(podWritesOf(actions)).toEqual([
      'createClaim data-web-0',
      'createClaim logs-web-0',
      'createPod web-0',
    ]);
    expect(eventsOf(actions)).toEqual([
      'SuccessfulCreate: Create Claim data-web-0 Pod web-0 in StatefulSet web success',
      'SuccessfulCreate: Create Claim logs-web-0 Pod web-0 in StatefulSet web success',
      'SuccessfulCreate: Create Pod web-0 in StatefulSet web successful',
    ]);
    expect(server.claims.get('data-web-0')).toMatchObject({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { namespace: 'default', labels: { app: 'web' } },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    });
    expect(server.pods.get('web-0')?.spec?.volumes).toEqual([
      { name: 'data', persistentVolumeClaim: { claimName: 'data-web-0' } },
      { name: 'logs', persistentVolumeClaim: { claimName: 'logs-web-0' } },
      { name: 'scratch', emptyDir: {} },
    ]);
  });

  test('one that is there is used again, and its owners put right', () => {
    const server = new Server(setOf('Delete', 'Retain'), claim('data-web-0'));
    expect(podWritesOf(server.sync())).toEqual(['createPod web-0', 'updateClaim data-web-0']);
    expect(server.claims.get('data-web-0')?.metadata.ownerReferences).toEqual([bySet]);
  });

  test('one that is being deleted holds up its pod', () => {
    const server = new Server(setOf('Retain', 'Retain'), claim('data-web-0', [], true));
    const { actions, error } = server.trySync();
    expect(podWritesOf(actions)).toEqual([]);
    expect(error?.message).toBe('pvc data-web-0 is being deleted');
    expect(eventsOf(actions)).toEqual([
      'FailedCreate: Create Pod web-0 in StatefulSet web failed error: ' +
        'pvc data-web-0 is being deleted',
    ]);
  });

  test('refusals are shown for the claim and the pod, all together', () => {
    const server = new Server(statefulSet({ claims: ['data', 'logs'] }));
    server.refuse = ({ kind }) =>
      kind === 'createClaim' ? refusal(403, 'Forbidden', 'quota') : undefined;
    const { actions, error } = server.trySync();
    const all = '[failed to create PVC data-web-0: quota, failed to create PVC logs-web-0: quota]';
    expect(error?.message).toBe(all);
    expect(eventsOf(actions)).toEqual([
      'FailedCreate: Create Claim data-web-0 for Pod web-0 in StatefulSet web failed error: quota',
      'FailedCreate: Create Claim logs-web-0 for Pod web-0 in StatefulSet web failed error: quota',
      `FailedCreate: Create Pod web-0 in StatefulSet web failed error: ${all}`,
    ]);
  });

  test('one that somebody else made meanwhile is refused without an event of its own', () => {
    const server = new Server(statefulSet({ claims: ['data'] }));
    server.refuse = ({ kind }) =>
      kind === 'createClaim' ? refusal(409, 'AlreadyExists', 'there') : undefined;
    expect(eventsOf(server.trySync().actions)).toEqual([
      'FailedCreate: Create Pod web-0 in StatefulSet web failed error: ' +
        'failed to create PVC data-web-0: there',
    ]);
  });

  test('a pending pod gets claims back that were deleted', () => {
    const volumes = { data: 'data-web-0' };
    const server = new Server(setOf('Retain', 'Retain'), pod(0, { phase: 'Pending', volumes }));
    expect(podWritesOf(server.sync())).toEqual(['createClaim data-web-0']);
  });
});

describe('a policy that changes', () => {
  const volumes = { data: 'data-web-0' };

  test('moves the owners of healthy pods, which are written too', () => {
    const server = new Server(setOf('Delete', 'Retain'), pod(0, { volumes }), claim('data-web-0'));
    server.sync();
    server.pods.get('web-0');
    expect(server.claims.get('data-web-0')?.metadata.ownerReferences).toEqual([bySet]);
    const updates = server.actions.filter(({ kind }) => kind === 'updatePod');
    expect(updates).toHaveLength(1);
  });

  test('and of surplus pods before they go', () => {
    const server = new Server(
      setOf('Delete', 'Delete'),
      pod(0, { volumes }),
      claim('data-web-0', [bySet]),
      pod(1, { volumes: { data: 'data-web-1' } }),
      claim('data-web-1', [bySet]),
    );
    expect(podWritesOf(server.sync())).toEqual(['updateClaim data-web-1', 'deletePod web-1']);
    expect(server.claims.get('data-web-1')?.metadata.ownerReferences).toEqual([byPod(1)]);
  });

  test('another controller is reported, ours removed', () => {
    const server = new Server(
      setOf('Delete', 'Retain'),
      pod(0, { volumes }),
      claim('data-web-0', [byOther, bySet]),
    );
    const actions = server.sync();
    expect(eventsOf(actions)[0]).toBe(
      'ConflictingController: PersistentVolumeClaim data-web-0 has a conflicting OwnerReference ' +
        'that acts as a manging controller, the retention policy is ignored for this claim',
    );
    expect(server.claims.get('data-web-0')?.metadata.ownerReferences).toEqual([byOther]);
  });

  test('a refused repair is shown and fails the sync', () => {
    const server = new Server(setOf('Delete', 'Retain'), pod(0, { volumes }), claim('data-web-0'));
    server.refuse = ({ kind }) =>
      kind === 'updateClaim' ? refusal(403, 'Forbidden', 'no') : undefined;
    const { actions, error } = server.trySync();
    const text = 'could not update claim data-web-0 for delete policy ownerRefs: no';
    expect(error?.message).toBe(text);
    expect(eventsOf(actions)).toEqual([
      `FailedUpdate: Update Pod web-0 in StatefulSet web failed error: ${text}`,
    ]);
  });
});
