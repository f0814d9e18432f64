/** Scenarios of ClusterRoles that are made of others. Names and labels carry the namespace's name. */
import { eventually, type Obj } from '../rig/index.ts';
import type { Fields, Scenario, World } from './world.ts';

const RBAC = 'rbac.authorization.k8s.io/v1';

/** Creates a ClusterRole that gives reading of these resources to the teams' sums. */
async function giver(world: World, name: string, team: string, ...resources: string[]) {
  const rules = resources.map((one) => ({ apiGroups: [''], resources: [one], verbs: ['get'] }));
  return await role(world, name, { rules }, { [label(world)]: team });
}

async function role(world: World, name: string, fields: Fields, labels: Fields = {}) {
  const metadata = { name: `${world.namespace}-${name}`, labels };
  return await world.api.create({ apiVersion: RBAC, kind: 'ClusterRole', ...fields, metadata });
}

function label(world: World): string {
  return `team.${world.namespace}`;
}

function selectors(world: World, ...teams: string[]): Fields {
  const clusterRoleSelectors = teams.map((team) => ({ matchLabels: { [label(world)]: team } }));
  return { aggregationRule: { clusterRoleSelectors } };
}

async function patch(world: World, name: string, body: Fields): Promise<Obj> {
  return await world.api.patch('clusterroles', '', `${world.namespace}-${name}`, body);
}

/** Waits until a role gives just these resources, in this order. */
async function gives(world: World, name: string, ...resources: string[]): Promise<void> {
  const look = async (): Promise<boolean> => {
    const { rules } = await world.api.get('clusterroles', '', `${world.namespace}-${name}`);
    const found = (rules ?? []).flatMap((rule: Fields) => rule.resources);
    return found.join() === resources.join();
  };
  await eventually(look, { describe: `${name} gives ${resources.join() || 'nothing'}` });
}

/** What is played for clusterrole-aggregation. */
export const ROLES: readonly Scenario[] = [
  {
    name: 'a role has the rules of all that match, by name and each once',
    play: async (world) => {
      await giver(world, 'z', 'a', 'pods', 'services');
      await giver(world, 'b', 'a', 'services', 'secrets');
      await giver(world, 'other', 'b', 'nodes');
      await role(world, 'sum', selectors(world, 'a'));
      await gives(world, 'sum', 'services', 'secrets', 'pods');
    },
  },
  {
    name: 'selectors count in their order, and a role that two match gives once',
    play: async (world) => {
      await giver(world, 'x', 'a', 'pods');
      await giver(world, 'y', 'b', 'nodes');
      await role(world, 'sum', selectors(world, 'b', 'a', 'b'));
      await gives(world, 'sum', 'nodes', 'pods');
    },
  },
  {
    name: 'changes, new labels and deletions of givers are followed',
    play: async (world) => {
      await role(world, 'sum', selectors(world, 'a'));
      await giver(world, 'x', 'a', 'pods');
      await giver(world, 'y', 'a', 'nodes');
      await gives(world, 'sum', 'pods', 'nodes');
      await patch(world, 'x', {
        rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['list'] }],
      });
      await gives(world, 'sum', 'secrets', 'nodes');
      await patch(world, 'y', { metadata: { labels: { [label(world)]: 'b' } } });
      await gives(world, 'sum', 'secrets');
      await world.api.remove('clusterroles', '', `${world.namespace}-x`);
      await gives(world, 'sum');
    },
  },
  {
    name: 'rules that somebody wrote into a sum do not last',
    play: async (world) => {
      await giver(world, 'x', 'a', 'pods');
      const own = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }];
      await role(world, 'sum', { ...selectors(world, 'a'), rules: own });
      await gives(world, 'sum', 'pods');
      await patch(world, 'sum', { rules: [...own, ...own] });
      await gives(world, 'sum', 'pods');
    },
  },
  {
    name: 'a sum of sums, and one that matches itself',
    play: async (world) => {
      await giver(world, 'x', 'a', 'pods');
      await role(world, 'inner', selectors(world, 'a'), { [label(world)]: 'b' });
      await role(world, 'outer', selectors(world, 'b'), { [label(world)]: 'b' });
      await gives(world, 'outer', 'pods');
      await giver(world, 'y', 'b', 'nodes');
      await gives(world, 'outer', 'pods', 'nodes');
    },
  },
  {
    name: 'rules for paths, names and expressions of selectors',
    play: async (world) => {
      const rules = [
        { nonResourceURLs: ['/metrics', '/healthz*'], verbs: ['get'] },
        { apiGroups: ['apps', ''], resources: ['*'], resourceNames: ['one'], verbs: ['*'] },
      ];
      await role(world, 'x', { rules }, { [label(world)]: 'a' });
      const matchExpressions = [
        { key: label(world), operator: 'In', values: ['a', 'c'] },
        { key: 'never', operator: 'DoesNotExist' },
      ];
      await role(world, 'sum', {
        aggregationRule: { clusterRoleSelectors: [{ matchExpressions }] },
      });
      await eventually(
        async () => {
          const sum = await world.api.get('clusterroles', '', `${world.namespace}-sum`);
          return (sum.rules ?? []).length === 2;
        },
        { describe: 'two rules' },
      );
    },
  },
  {
    name: 'the built-in roles take up what is labeled for them',
    play: async (world) => {
      const aggregate = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' };
      const group = `${world.namespace}.example.com`;
      const rules = [{ apiGroups: [group], resources: ['widgets'], verbs: ['get'] }];
      await role(world, 'widgets', { rules }, aggregate);
      for (const name of ['view', 'edit', 'admin']) {
        const look = async (): Promise<boolean> => {
          const { rules: found } = await world.api.get('clusterroles', '', name);
          return (found ?? []).some((rule: Fields) => String(rule.apiGroups) === group);
        };
        await eventually(look, { describe: `${name} has the widgets` });
      }
    },
  },
];
