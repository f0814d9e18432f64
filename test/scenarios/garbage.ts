/** What users do with owners and dependents. */
import { type Obj, registerResource } from '../rig/index.ts';
import { deployment, type Fields, type Scenario, type World } from './world.ts';

const HOLD = 'example.com/hold';
const BLOCKS = { blockOwnerDeletion: true };

/** The custom resource that is there from the start. */
export const WIDGETS = customResource('widgets', 'Widget');

/** A CustomResourceDefinition of example.com whose objects may hold anything. */
export function customResource(plural: string, kind: string): Fields {
  registerResource({ apiVersion: 'example.com/v1', kind, plural, namespaced: true });
  const schema = {
    openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}

function ownedBy(owner: Obj, more: Fields = {}): Fields {
  const { apiVersion, kind, metadata } = owner;
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, ...more };
}

/** An object of any kind with no content. */
function thing(kind: string, name: string, metadata: Fields = {}): Fields {
  const apiVersion = kind === 'Widget' || kind === 'Gadget' ? 'example.com/v1' : 'v1';
  return { apiVersion, kind, metadata: { name, ...metadata } };
}

async function owned(
  world: World,
  kind: string,
  name: string,
  owners: readonly Fields[],
  more: Fields = {},
): Promise<Obj> {
  return await world.create(thing(kind, name, { ownerReferences: owners, ...more }));
}

async function remove(world: World, plural: string, name: string, policy: Policy): Promise<void> {
  await world.api.remove(plural, world.namespace, name, { propagationPolicy: policy });
}
type Policy = 'Orphan' | 'Background' | 'Foreground';

async function untilGone(world: World, plural: string, ...names: string[]): Promise<void> {
  const goneIn = (objects: Obj[]) => !objects.some(({ metadata }) => names.includes(metadata.name));
  await world.untilList(plural, goneIn, `${plural} ${names.join(', ')} gone`);
}

async function release(world: World, plural: string, name: string): Promise<void> {
  await world.merge(plural, name, { metadata: { finalizers: null } });
}

const isGoing = ({ metadata }: Obj) => metadata.deletionTimestamp !== undefined;
const ownersOf = ({ metadata }: Obj): string[] =>
  (metadata.ownerReferences ?? []).map(({ name }: Fields) => name);

/** Scenarios about what a deletion means for dependents. */
const PROPAGATION: readonly Scenario[] = [
  {
    name: 'background: dependents follow their owner',
    async play(world) {
      const owner = await world.create(thing('ConfigMap', 'owner'));
      for (let index = 0; index < 25; index++) {
        await owned(world, 'Secret', `s${index}`, [ownedBy(owner, BLOCKS)]);
      }
      await owned(world, 'Widget', 'w', [ownedBy(owner)]);
      await remove(world, 'configmaps', 'owner', 'Background');
      await world.untilList('secrets', (all) => all.length === 0, 'no secrets');
      await untilGone(world, 'widgets', 'w');
    },
  },
  {
    name: 'foreground: the owner waits for a dependent that is held',
    async play(world) {
      const owner = await world.create(thing('ConfigMap', 'owner'));
      await owned(world, 'Secret', 'held', [ownedBy(owner, BLOCKS)], { finalizers: [HOLD] });
      await owned(world, 'Secret', 'free', [ownedBy(owner, BLOCKS)]);
      await remove(world, 'configmaps', 'owner', 'Foreground');
      await untilGone(world, 'secrets', 'free');
      await world.until('secrets', 'held', isGoing);
    },
  },
  {
    name: 'foreground: the owner goes when the last one is gone',
    async play(world) {
      const owner = await world.create(thing('ConfigMap', 'owner'));
      await owned(world, 'Secret', 'held', [ownedBy(owner, BLOCKS)], { finalizers: [HOLD] });
      await remove(world, 'configmaps', 'owner', 'Foreground');
      await world.until('secrets', 'held', isGoing);
      await release(world, 'secrets', 'held');
      await untilGone(world, 'configmaps', 'owner');
    },
  },
  {
    name: 'foreground: dependents that do not block are not waited for',
    async play(world) {
      const owner = await world.create(thing('ConfigMap', 'owner'));
      await owned(world, 'Secret', 'held', [ownedBy(owner)], { finalizers: [HOLD] });
      await remove(world, 'configmaps', 'owner', 'Foreground');
      await untilGone(world, 'configmaps', 'owner');
      await world.until('secrets', 'held', isGoing);
    },
  },
  {
    name: 'foreground: a reference that stops blocking lets the owner go',
    async play(world) {
      const owner = await world.create(thing('ConfigMap', 'owner'));
      await owned(world, 'Secret', 'held', [ownedBy(owner, BLOCKS)], { finalizers: [HOLD] });
      await remove(world, 'configmaps', 'owner', 'Foreground');
      await world.until('secrets', 'held', isGoing);
      const ownerReferences = [ownedBy(owner, { blockOwnerDeletion: false })];
      await world.merge('secrets', 'held', { metadata: { ownerReferences } });
      await untilGone(world, 'configmaps', 'owner');
    },
  },
  {
    name: 'foreground: three generations, custom resources among them',
    async play(world) {
      const top = await world.create(thing('ConfigMap', 'top'));
      const middle = await owned(world, 'Widget', 'middle', [ownedBy(top, BLOCKS)]);
      await owned(world, 'Secret', 'leaf', [ownedBy(middle, BLOCKS)]);
      await remove(world, 'configmaps', 'top', 'Foreground');
      await untilGone(world, 'configmaps', 'top');
    },
  },
  {
    name: 'foreground: a circle comes to its end',
    async play(world) {
      const a = await world.create(thing('ConfigMap', 'a'));
      const b = await owned(world, 'ConfigMap', 'b', [ownedBy(a, BLOCKS)]);
      const ownerReferences = [ownedBy(b, BLOCKS)];
      await world.merge('configmaps', 'a', { metadata: { ownerReferences } });
      await remove(world, 'configmaps', 'a', 'Foreground');
      await untilGone(world, 'configmaps', 'a', 'b');
    },
  },
  {
    name: 'orphan: dependents stay without the reference',
    async play(world) {
      const owner = await world.create(thing('ConfigMap', 'owner'));
      for (let index = 0; index < 12; index++) {
        await owned(world, 'Secret', `s${index}`, [ownedBy(owner, BLOCKS)]);
      }
      await remove(world, 'configmaps', 'owner', 'Orphan');
      await untilGone(world, 'configmaps', 'owner');
    },
  },
  {
    name: 'orphan: custom resources keep their other owners',
    async play(world) {
      const owner = await world.create(thing('ConfigMap', 'owner'));
      const other = await world.create(thing('ConfigMap', 'other'));
      for (const name of ['w1', 'w2', 'w3']) {
        await owned(world, 'Widget', name, [ownedBy(owner), ownedBy(other, BLOCKS)]);
      }
      await remove(world, 'configmaps', 'owner', 'Orphan');
      await untilGone(world, 'configmaps', 'owner');
    },
  },
  {
    name: 'a dependent that wants its own dependents orphaned is obeyed',
    async play(world) {
      const top = await world.create(thing('ConfigMap', 'top'));
      const finalizers = ['orphan'];
      const middle = await owned(world, 'Secret', 'middle', [ownedBy(top)], { finalizers });
      await owned(world, 'Secret', 'leaf', [ownedBy(middle)]);
      await remove(world, 'configmaps', 'top', 'Background');
      await untilGone(world, 'secrets', 'middle');
    },
  },
  {
    name: 'a Deployment goes in the background, in the foreground, and leaves orphans',
    async play(world) {
      for (const name of ['back', 'fore', 'left']) {
        await world.create(named(deployment(2, {}, name), name));
        const running = (pods: Obj[]) => pods.filter(isOf(name)).length === 2;
        await world.untilList('pods', running, `two pods of ${name}`);
      }
      await remove(world, 'deployments', 'back', 'Background');
      await remove(world, 'deployments', 'fore', 'Foreground');
      await remove(world, 'deployments', 'left', 'Orphan');
      await untilGone(world, 'deployments', 'back', 'fore', 'left');
      await world.untilList('pods', (pods) => pods.every(isOf('left')), 'only pods of left');
      const orphaned = (sets: Obj[]) => sets.every((set) => ownersOf(set).length === 0);
      await world.untilList('replicasets', orphaned, 'an orphaned ReplicaSet');
    },
  },
];

const isOf =
  (app: string) =>
  ({ metadata }: Obj) =>
    metadata.labels?.app === app;

function named(fields: Fields, app: string): Fields {
  const spec = fields.spec as Fields;
  const template = spec.template as Fields;
  const labels = { app };
  const selector = { matchLabels: labels };
  return {
    ...fields,
    spec: { ...spec, selector, template: { ...template, metadata: { labels } } },
  };
}

/** Scenarios about what references say. */
const REFERENCES: readonly Scenario[] = [
  {
    name: 'one of two owners goes: its reference is dropped',
    async play(world) {
      const a = await world.create(thing('ConfigMap', 'a'));
      const b = await world.create(thing('ConfigMap', 'b'));
      await owned(world, 'Secret', 's', [ownedBy(a, BLOCKS), ownedBy(b)]);
      await owned(world, 'Widget', 'w', [ownedBy(a, BLOCKS), ownedBy(b)]);
      await remove(world, 'configmaps', 'a', 'Background');
      const onlyB = (object: Obj) => ownersOf(object).join() === 'b';
      await world.until('secrets', 's', onlyB);
      await world.until('widgets', 'w', onlyB);
    },
  },
  {
    name: 'one of two owners waits: the other keeps the dependent, the waiting one goes',
    async play(world) {
      const a = await world.create(thing('ConfigMap', 'a'));
      const b = await world.create(thing('ConfigMap', 'b'));
      await owned(world, 'Secret', 's', [ownedBy(a, BLOCKS), ownedBy(b, BLOCKS)]);
      await remove(world, 'configmaps', 'a', 'Foreground');
      await untilGone(world, 'configmaps', 'a');
    },
  },
  {
    name: 'an owner of that name with another UID is none',
    async play(world) {
      const owner = await world.create(thing('ConfigMap', 'owner'));
      const uid = '11111111-1111-1111-1111-111111111111';
      await owned(world, 'Secret', 's', [ownedBy(owner, { uid })]);
      await untilGone(world, 'secrets', 's');
    },
  },
  {
    name: 'an owner of another kind with that UID is none',
    async play(world) {
      const owner = await world.create(thing('ConfigMap', 'owner'));
      await owned(world, 'Secret', 'right', [ownedBy(owner)]);
      await owned(world, 'Secret', 'wrong', [ownedBy(owner, { kind: 'Secret' })]);
      await untilGone(world, 'secrets', 'wrong');
    },
  },
  {
    name: 'an owner in another namespace is none, and an event says so',
    async play(world) {
      const other = `${world.namespace}-other`;
      await world.api.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: other } });
      const far = await world.api.create({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'far', namespace: other },
      });
      await owned(world, 'Secret', 's', [ownedBy(far)]);
      await untilGone(world, 'secrets', 's');
      const told = (events: Obj[]) => events.some((e) => e.reason === 'OwnerRefInvalidNamespace');
      await world.untilList('events', told, 'the event');
    },
  },
  {
    name: 'cluster-scoped owners own across namespaces',
    async play(world) {
      const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' };
      const name = `owner-of-${world.namespace}`;
      const owner = await world.api.create({ ...role, metadata: { name } });
      await owned(world, 'Secret', 's', [ownedBy(owner, BLOCKS)]);
      await owned(world, 'Widget', 'w', [ownedBy(owner)]);
      await world.api.remove('clusterroles', '', name);
      await untilGone(world, 'secrets', 's');
      await untilGone(world, 'widgets', 'w');
    },
  },
  {
    name: 'a kind that nobody serves is not judged',
    async play(world) {
      const uid = '22222222-2222-2222-2222-222222222222';
      const gadget = { apiVersion: 'gone.example.com/v1', kind: 'Gone', name: 'g', uid };
      await owned(world, 'Secret', 'kept', [gadget]);
      const owner = await world.create(thing('ConfigMap', 'owner'));
      await owned(world, 'Secret', 'mixed', [ownedBy(owner), gadget]);
      await owned(world, 'Secret', 'goes', [ownedBy(owner)]);
      await remove(world, 'configmaps', 'owner', 'Background');
      await untilGone(world, 'secrets', 'goes');
    },
  },
  {
    name: 'a reference that is added to an owner long gone',
    async play(world) {
      const owner = await world.create(thing('ConfigMap', 'owner'));
      await world.create(thing('Secret', 's'));
      await remove(world, 'configmaps', 'owner', 'Background');
      await world.merge('secrets', 's', { metadata: { ownerReferences: [ownedBy(owner)] } });
      await untilGone(world, 'secrets', 's');
    },
  },
];

/** Scenarios about kinds that come and go; looks at what is served are 30 s apart. */
const KINDS: readonly Scenario[] = [
  {
    name: 'objects of a kind that is new own, and are owned',
    async play(world) {
      await world.api.create(customResource('gadgets', 'Gadget'));
      await world.api.waitFor(
        'customresourcedefinitions',
        '',
        'gadgets.example.com',
        ({ status }) =>
          (status?.conditions ?? []).some(
            ({ type, status: is }: Fields) => type === 'Established' && is === 'True',
          ),
      );
      await world.untilList('gadgets', () => true, 'gadgets being served');
      const owner = await world.create(thing('ConfigMap', 'owner'));
      const middle = await owned(world, 'Gadget', 'middle', [ownedBy(owner, BLOCKS)]);
      await owned(world, 'Secret', 'leaf', [ownedBy(middle, BLOCKS)]);
      await remove(world, 'configmaps', 'owner', 'Background');
      await world.untilList('secrets', (all) => all.length === 0, 'no secrets');
      await world.api.remove('customresourcedefinitions', '', 'gadgets.example.com');
    },
  },
];

export const GARBAGE: readonly Scenario[] = [...PROPAGATION, ...REFERENCES, ...KINDS];
