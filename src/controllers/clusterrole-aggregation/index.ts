/**
 * clusterrole-aggregation-controller: a ClusterRole with an aggregationRule has the rules of all
 * ClusterRoles that its selectors match. Any change of any ClusterRole has them all looked over.
 */
import { compareBytes } from '../../api/go-json.ts';
import { apiVersionOf, CLUSTER_ROLES } from '../../api/resource.ts';
import { compileSelector } from '../../api/selector.ts';
import type { ClusterRole } from '../../api/types/index.ts';
import type {
  Controller,
  ControllerContext,
  ControllerDefinition,
  SyncRun,
} from '../../runtime/controller.ts';
import { AGGREGATED, ROLES_BY_SOURCE } from '../../runtime/informer/indexes.ts';
import type { ClusterRoleRecord, Lister } from '../../runtime/informer/types.ts';
import { decide } from './decide.ts';

const NAME = 'clusterrole-aggregation-controller';
const WORKERS = 5;

/** The passport of the ClusterRole aggregation controller. */
export const clusterRoleAggregationController: ControllerDefinition = {
  name: NAME,
  aliases: ['clusterrole-aggregation'],
  gates: [],
  enabledByDefault: true,
  account: NAME,
  watches: [CLUSTER_ROLES],
  writes: ['clusterroles apply'],
  flags: [],
  build,
};

type Roles = Lister<ClusterRole, ClusterRoleRecord>;

/** Keys are names of ClusterRoles that have an aggregationRule. */
function build(context: ControllerContext): Controller {
  const roles = context.informers.of<ClusterRole, ClusterRoleRecord>(CLUSTER_ROLES);
  const queue = context.queue('ClusterRoleAggregator');
  const lookAll = (): void => {
    for (const { key } of roles.lister.byIndex(ROLES_BY_SOURCE, AGGREGATED)) queue.add(key);
  };
  roles.addHandler({ add: lookAll, update: lookAll, delete: lookAll });
  const reconcile = (key: string, run: SyncRun): Promise<void> => sync(roles.lister, key, run);
  return { queues: [{ queue, workers: WORKERS, announcesNothing: true, reconcile }] };
}

async function sync(roles: Roles, name: string, run: SyncRun): Promise<void> {
  const role = roles.get(name);
  const selectors = role?.aggregationRule?.clusterRoleSelectors ?? [];
  if (role === undefined || !roles.record(name)?.aggregated) return;
  const application = decide(
    role,
    selectors.flatMap((selector) => matching(roles, selector)),
  );
  if (application === undefined) return;
  const { rules, because } = application;
  const body = {
    apiVersion: apiVersionOf(CLUSTER_ROLES),
    kind: CLUSTER_ROLES.kind,
    // An apply makes what is not there: with the UID it can't make a role that was deleted.
    metadata: { name, uid: role.metadata.uid },
    ...(rules.length > 0 ? { rules } : {}),
  };
  const options = { because, fieldManager: NAME, force: true };
  await run.client.patch(CLUSTER_ROLES, { name }, 'apply', body, options);
}

type Selector = NonNullable<
  NonNullable<ClusterRole['aggregationRule']>['clusterRoleSelectors']
>[number];

/** The roles that a selector matches, by name. Throws for one that can't be read. */
function matching(roles: Roles, spec: Selector | null): ClusterRole[] {
  const { selector, problem } = compileSelector(spec ?? {});
  if (selector === undefined) throw new Error(problem);
  return [...roles.selected('', (labels) => selector.matches(labels))]
    .sort((a, b) => compareBytes(a.name, b.name))
    .flatMap(({ key }) => roles.get(key) ?? []);
}
