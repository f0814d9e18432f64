/**
 * A name that is made of a hash is a stranger's already. What name that is depends on the manager:
 * each play finds out by letting it be made once.
 */
import type { Obj } from '../rig/index.ts';
import { deployment, type Fields, type Scenario, template, type World } from './world.ts';

const HASH = 'pod-template-hash';
const REVISION_HASH = 'controller-revision-hash';

/** Puts a ReplicaSet of somebody else in the place of this one. */
async function strangersSet(world: World, { metadata, spec }: Obj): Promise<void> {
  await world.api.remove('replicasets', world.namespace, metadata.name);
  const gone = (sets: Obj[]): boolean =>
    sets.every(({ metadata: { uid } }) => uid !== metadata.uid);
  await world.untilList('replicasets', gone, 'one ReplicaSet less');
  const labels = { app: 'stranger' };
  await world.create({
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: metadata.name, labels: { ...labels, [HASH]: metadata.labels[HASH] } },
    spec: { replicas: 0, selector: { matchLabels: labels }, template: strangersTemplate(spec) },
  });
}

function strangersTemplate({ template: { spec } }: Obj): Fields {
  return { metadata: { labels: { app: 'stranger' } }, spec };
}

/** Puts a ControllerRevision of somebody else in the place of this one. */
async function strangersRevision(world: World, { metadata }: Obj): Promise<void> {
  const { name, uid } = metadata;
  await world.api.remove('controllerrevisions', world.namespace, name);
  const gone = (all: Obj[]): boolean => all.every((one) => one.metadata.uid !== uid);
  await world.untilList('controllerrevisions', gone, 'one revision less');
  const hash = metadata.labels?.[REVISION_HASH];
  await world.create({
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: { name, labels: hash === undefined ? {} : { [REVISION_HASH]: hash } },
    data: { of: 'a stranger' },
    revision: 40,
  });
}

/** The set whose template has this version. */
async function setOf(world: World, version: string): Promise<Obj> {
  const has = ({ spec }: Obj): boolean =>
    spec.template.spec.containers[0].image === `web:${version}`;
  const sets = await world.untilList('replicasets', (all) => all.some(has), `a set of ${version}`);
  return sets.find(has) as Obj;
}

async function rollTo(world: World, version: string): Promise<void> {
  await world.merge('deployments', 'web', { spec: { template: template(version) } });
  await world.rolledOut();
}

function statefulSet(): Fields {
  const { spec, ...rest } = deployment(1) as { spec: Fields };
  return { ...rest, kind: 'StatefulSet', spec: { ...spec, serviceName: 'web' } };
}

async function ordinalOf(world: World, version: string): Promise<void> {
  await world.until('statefulsets', 'web', ({ metadata, status }) => {
    const current = status?.observedGeneration === metadata.generation;
    return current && status.updatedReplicas === 1 && status.availableReplicas === 1;
  });
  const image = ({ spec }: Obj): string => spec.containers[0].image;
  await world.untilList(
    'pods',
    ([pod]) => image(pod as Obj) === `web:${version}`,
    `web:${version}`,
  );
}

export const COLLISIONS: readonly Scenario[] = [
  {
    name: "the name of a Deployment's next ReplicaSet is a stranger's",
    async play(world) {
      await world.create(deployment(1));
      await world.rolledOut();
      const first = await setOf(world, '1');
      await rollTo(world, '2');
      await strangersSet(world, first);
      await rollTo(world, '1');
      await world.until('deployments', 'web', ({ status }) => status.collisionCount === 1);
    },
  },
  {
    name: "the name of a StatefulSet's next revision is a stranger's",
    async play(world) {
      await world.create(statefulSet());
      await ordinalOf(world, '1');
      const [first] = await world.list('controllerrevisions');
      await world.merge('statefulsets', 'web', { spec: { template: template('2') } });
      await ordinalOf(world, '2');
      await strangersRevision(world, first as Obj);
      await world.merge('statefulsets', 'web', { spec: { template: template('1') } });
      await ordinalOf(world, '1');
      await world.until('statefulsets', 'web', ({ status }) => status.collisionCount === 1);
    },
  },
];
