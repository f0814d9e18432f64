/**
 * Roles and tokens under the reference manager and under Holdfast: rules, keys, claims, labels,
 * references and managers of fields must come out equal.
 */
import { setDefaultTimeout } from 'bun:test';
import { compareAll } from './both.ts';
import { ROLES } from './identity-roles.ts';
import { settledIdentity } from './identity-snapshot.ts';
import { TOKENS } from './identity-tokens.ts';
import { World } from './world.ts';

setDefaultTimeout(180_000);

const SCENARIOS = [...TOKENS, ...ROLES];
const CONTROLLERS = ['clusterrole-aggregation', 'serviceaccount-token', 'serviceaccount'];

compareAll('as the reference manager', {
  suite: 'identity',
  scenarios: SCENARIOS,
  controllers: CONTROLLERS,
  atOnce: 6,
  world: World,
  look: settledIdentity,
});
