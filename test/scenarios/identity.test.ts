/**
 * Roles and tokens under the reference manager and under Holdfast: rules, keys, claims, labels,
 * references and managers of fields must come out equal.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { Both } from './both.ts';
import { ROLES } from './identity-roles.ts';
import { settledIdentity } from './identity-snapshot.ts';
import { TOKENS } from './identity-tokens.ts';
import { testEach } from './servers.ts';

setDefaultTimeout(180_000);

const SCENARIOS = [...TOKENS, ...ROLES];
const CONTROLLERS = ['clusterrole-aggregation', 'serviceaccount-token', 'serviceaccount'];

let both: Both;

beforeAll(async () => {
  both = await Both.start({
    scenarios: SCENARIOS,
    controllers: CONTROLLERS,
    atOnce: 5,
    prepare: async () => undefined,
    look: settledIdentity,
  });
});

afterAll(async () => {
  await both?.stop();
});

describe('as the reference manager', () => {
  testEach(SCENARIOS, async (scenario) => {
    const [wanted, found] = await both.of(scenario);
    expect(found).toEqual(wanted);
  });
});
