/** Leader migration: which controllers wait for a second Lease, as upstream's flags say. */
import { parse } from 'yaml';
import { quote } from './go/quote.ts';
import { type ReadText, readProblem } from './read.ts';

/** One controller and the component that may run it. */
export interface ControllerLeader {
  readonly name: string;
  /** "kube-controller-manager", "cloud-controller-manager" or "*". */
  readonly component: string;
}

/** What the second Lease is and whom it guards. */
export interface LeaderMigration {
  readonly leaderName: string;
  readonly resourceLock: string;
  readonly controllerLeaders: readonly ControllerLeader[];
}

const GROUP = 'controllermanager.config.k8s.io';
const KIND = 'LeaderMigrationConfiguration';
const VERSIONS = ['v1', 'v1beta1', 'v1alpha1'];
const KEYS = ['apiVersion', 'kind', 'leaderName', 'resourceLock', 'controllerLeaders'];
const LEADER_KEYS = ['name', 'component'];
const LOCKS = ['leases', 'endpoints'];

/** What holds when no file is named. */
export const DEFAULT_LEADER_MIGRATION: LeaderMigration = {
  leaderName: 'cloud-provider-extraction-migration',
  resourceLock: 'leases',
  controllerLeaders: [
    { name: 'route-controller', component: '*' },
    { name: 'service-controller', component: '*' },
    { name: 'cloud-node-lifecycle-controller', component: '*' },
  ],
};

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown, what: string, known: readonly string[]): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`${what}: found ${JSON.stringify(value)}; valid is a map`);
  }
  const stranger = Object.keys(value).find((key) => !known.includes(key));
  if (stranger !== undefined) {
    throw new Error(`${what}: unknown field ${quote(stranger)}; valid are ${known.join(', ')}`);
  }
  return value as Fields;
}

function textOf(fields: Fields, key: string, standard: string): string {
  const value = fields[key] ?? standard;
  if (typeof value === 'string') return value;
  throw new Error(`${key}: found ${JSON.stringify(value)}; valid is a text`);
}

function read(text: string): LeaderMigration {
  const fields = fieldsOf(parse(text), KIND, KEYS);
  const versions = VERSIONS.map((version) => `${GROUP}/${version}`);
  if (fields.kind !== KIND || !versions.includes(String(fields.apiVersion))) {
    const found = `${fields.apiVersion}, Kind=${fields.kind}`;
    throw new Error(`found ${found}; valid is ${KIND} of ${versions.join(' or ')}`);
  }
  const leaders = fields.controllerLeaders ?? [];
  if (!Array.isArray(leaders)) {
    throw new Error(`controllerLeaders: found ${JSON.stringify(leaders)}; valid is a list`);
  }
  return {
    leaderName: textOf(fields, 'leaderName', ''),
    resourceLock: textOf(fields, 'resourceLock', 'leases'),
    controllerLeaders: leaders.map((entry, at) => {
      const leader = fieldsOf(entry, `controllerLeaders[${at}]`, LEADER_KEYS);
      return { name: textOf(leader, 'name', ''), component: textOf(leader, 'component', '') };
    }),
  };
}

function check({ leaderName, resourceLock, controllerLeaders }: LeaderMigration): string[] {
  const errors: string[] = [];
  if (leaderName === '') {
    const text = 'leaderName must be set for LeaderMigrationConfiguration';
    errors.push(`leaderName: Required value: ${text}`);
  }
  if (!LOCKS.includes(resourceLock)) {
    const text = "resource Lock must be one of 'leases' or 'endpoints'";
    errors.push(`resourceLock: Invalid value: ${quote(resourceLock)}: ${text}`);
  }
  for (const [at, leader] of controllerLeaders.entries()) {
    const place = `controllerLeaders[${at}]`;
    if (leader.component === '') errors.push(`${place}.component: Required value`);
    if (leader.name === '') errors.push(`${place}.name: Required value`);
  }
  return errors;
}

/** The file of --leader-migration-config. Throws an Error that says what is wrong with it. */
export function readLeaderMigration(path: string, readText: ReadText): LeaderMigration {
  let text: string;
  try {
    text = readText(path);
  } catch (error) {
    const reason = readProblem('open', path, error);
    const head = `unable to read leader migration configuration from ${quote(path)}`;
    throw new Error(`${head}: ${reason}`, { cause: error });
  }
  let migration: LeaderMigration;
  try {
    migration = read(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`--leader-migration-config ${path}: ${reason}`, { cause: error });
  }
  const errors = check(migration);
  if (errors.length > 0) {
    throw new Error(`failed to parse leader migration configuration: [${errors.join(' ')}]`);
  }
  return migration;
}
