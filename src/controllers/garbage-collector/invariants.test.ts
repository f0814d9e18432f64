import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { FOREGROUND_FINALIZER } from '../../api/owners.ts';
import { apiVersionOf } from '../../api/resource.ts';
import type { KubeObject, OwnerReference } from '../../api/types/index.ts';
import type { ServedResource } from '../../runtime/controller.ts';
import { NODES, PODS, SETS, WIDGETS, World } from './testing/world.ts';

const KINDS: readonly ServedResource[] = [SETS, PODS, WIDGETS, NODES];
const NAMESPACES = ['one', 'two'];
const OBJECTS = 7;

interface Thing {
  readonly kind: ServedResource;
  readonly key: string;
  readonly uid: string;
}

/** Objects 0..6; each has one place whether it exists or not, so references can be made to any. */
function thingOf(index: number): Thing {
  const kind = KINDS[index % KINDS.length] ?? PODS;
  const namespace = NAMESPACES[index % 2] ?? 'one';
  const key = kind.namespaced ? `${namespace}/o${index}` : `o${index}`;
  return { kind, key, uid: `uid-${index}` };
}

const THINGS = Array.from({ length: OBJECTS }, (_, index) => thingOf(index));

interface Link {
  readonly to: number;
  readonly blocks: boolean;
}

type Step =
  | { readonly do: 'create'; readonly what: number; readonly links: readonly Link[] }
  | { readonly do: 'delete'; readonly what: number; readonly policy: Policy }
  | { readonly do: 'relink'; readonly what: number; readonly links: readonly Link[] }
  | { readonly do: 'sync'; readonly which: number }
  | { readonly do: 'deliver'; readonly kind: number };
type Policy = 'Orphan' | 'Background' | 'Foreground';

const what = fc.nat({ max: OBJECTS - 1 });
const links = fc.uniqueArray(fc.record({ to: what, blocks: fc.boolean() }), {
  maxLength: 2,
  selector: ({ to }) => to,
});
const policy = fc.constantFrom<Policy>('Orphan', 'Background', 'Foreground');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('create' as const), what, links }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), what, policy }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('relink' as const), what, links }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('sync' as const), which: fc.nat(50) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('deliver' as const), kind: fc.nat(3) }) },
);
const steps = fc.array(step, { minLength: 5, maxLength: 60 });

/** A world in which every write of the collector is judged by what the server holds. */
class Judged extends World {
  readonly complaints: string[] = [];
  readonly created = new Set<number>();

  override deleteAs(...[resource, at, options]: Parameters<World['deleteAs']>): void {
    const victim = this.all().find(({ metadata }) => metadata.uid === options.uid);
    const keepers = (victim?.metadata.ownerReferences ?? []).filter((reference) => {
      const owner = this.ownerOf(victim, reference);
      return owner !== undefined && !waits(owner);
    });
    super.deleteAs(resource, at, options);
    if (keepers.length > 0) this.complaints.push(`${at.name} deleted though ${keepers[0]?.name}`);
  }

  override patch(...[resource, at, kind, body]: Parameters<World['patch']>): KubeObject {
    const before = this.read(resource, at);
    const stored = super.patch(resource, at, kind, body);
    const had = before.metadata.finalizers?.includes(FOREGROUND_FINALIZER);
    const has = body.metadata.finalizers?.includes(FOREGROUND_FINALIZER) ?? false;
    if (body.metadata.finalizers === undefined || !had || has || this.lagging) return stored;
    const blocking = this.all().filter((one) =>
      (one.metadata.ownerReferences ?? []).some(
        ({ uid, blockOwnerDeletion }) => uid === before.metadata.uid && blockOwnerDeletion,
      ),
    );
    if (blocking.length > 0) this.complaints.push(`${at.name} let go though it is blocked`);
    return stored;
  }

  /** The object that a reference means, by all it says. */
  ownerOf(dependent: KubeObject | undefined, reference: OwnerReference): KubeObject | undefined {
    return this.all().find(({ apiVersion, kind, metadata }) => {
      const isSame = metadata.uid === reference.uid && metadata.name === reference.name;
      const isKind = apiVersion === reference.apiVersion && kind === reference.kind;
      const isNear =
        metadata.namespace === undefined || metadata.namespace === dependent?.metadata.namespace;
      return isSame && isKind && isNear;
    });
  }
}

function waits({ metadata }: KubeObject): boolean {
  const { deletionTimestamp, finalizers = [] } = metadata;
  return deletionTimestamp !== undefined && finalizers.includes(FOREGROUND_FINALIZER);
}

function referencesTo(all: readonly Link[]): OwnerReference[] {
  return all.map(({ to, blocks }) => {
    const { kind, key, uid } = thingOf(to);
    const name = key.split('/').pop() ?? '';
    return {
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      name,
      uid,
      blockOwnerDeletion: blocks,
    };
  });
}

/**
 * Nothing owns itself, and what is referred to before it is there never will be: UIDs are new. A
 * cluster-scoped object that names a namespaced owner would hold it back for ever, as upstream.
 */
function linksOf(world: Judged, from: number, all: readonly Link[]): OwnerReference[] {
  const isNear = thingOf(from).kind.namespaced;
  const others = all.filter(({ to }) => to !== from && (isNear || !thingOf(to).kind.namespaced));
  for (const { to } of others) world.created.add(to);
  return referencesTo(others);
}

async function play(world: Judged, all: readonly Step[]): Promise<void> {
  for (const one of all) {
    if (one.do === 'sync') {
      const waiting = world.waiting();
      const chosen = waiting[one.which % Math.max(1, waiting.length)];
      if (chosen !== undefined) await world.sync(chosen);
      continue;
    }
    if (one.do === 'deliver') {
      world.deliver(KINDS[one.kind] ?? PODS, 1);
      continue;
    }
    const { kind, key, uid } = THINGS[one.what] ?? thingOf(0);
    const present = world.get(kind, key);
    if (one.do === 'create' && !world.created.has(one.what)) {
      world.created.add(one.what);
      world.create(kind, key, { uid, ownerReferences: linksOf(world, one.what, one.links) });
    } else if (one.do === 'delete' && present?.metadata.deletionTimestamp === undefined) {
      if (present !== undefined) world.delete(kind, key, one.policy);
    } else if (one.do === 'relink' && present !== undefined) {
      world.edit(kind, key, { ownerReferences: linksOf(world, one.what, one.links) });
    }
  }
}

describe('whatever happens', () => {
  test('an object with an owner that is there is never deleted, however late events are', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const world = new Judged(KINDS);
        await world.start();
        world.lagging = true;
        await play(world, all);
        expect(world.complaints).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test('nothing that is blocked loses its foreground finalizer', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const world = new Judged(KINDS);
        await world.start();
        await play(world, all);
        expect(world.complaints).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test('in the end everything without an owner is gone and nobody waits in vain', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const world = new Judged(KINDS);
        await world.start();
        world.lagging = true;
        await play(world, all);
        world.lagging = false;
        world.deliverAll();
        await world.settle();
        expect(world.complaints).toEqual([]);
        for (const object of world.all()) {
          const { name, deletionTimestamp, ownerReferences = [] } = object.metadata;
          const owners = ownerReferences.map((one) => world.ownerOf(object, one));
          const unowned = owners.length > 0 && owners.every((owner) => owner === undefined);
          expect([name, unowned]).toEqual([name, false]);
          expect([name, deletionTimestamp]).toEqual([name, undefined]);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('orphaning keeps every dependent', async () => {
    const many = fc.uniqueArray(fc.nat({ max: 30 }), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(many, fc.boolean(), fc.boolean(), async (names, custom, blocks) => {
        const world = new Judged(KINDS);
        await world.start();
        const kind = custom ? WIDGETS : PODS;
        const owner = world.create(SETS, 'one/owner', { uid: 'owner' });
        const reference = {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: 'owner',
          uid: 'owner',
        };
        for (const name of names) {
          const ownerReferences = [{ ...reference, blockOwnerDeletion: blocks }];
          world.create(kind, `one/p${name}`, { ownerReferences });
        }
        world.delete(SETS, 'one/owner', 'Orphan');
        await world.settle();
        expect(world.get(SETS, 'one/owner')).toBeUndefined();
        expect(owner.metadata.uid).toBe('owner');
        for (const name of names) {
          const kept = world.get(kind, `one/p${name}`);
          expect(kept?.metadata.deletionTimestamp).toBeUndefined();
          expect(kept?.metadata.ownerReferences).toEqual([]);
        }
      }),
      { numRuns: 60 },
    );
  });
});
