/** Several Deployments that are changed at random, and what each change may do to their pods. */
import type { Random } from '../../src/runtime/random.ts';
import type { Ledger, PodLife } from '../scenarios/ledger.ts';
import { deployment, template, type World } from '../scenarios/world.ts';

/** One Deployment of the fleet. */
interface App {
  readonly name: string;
  readonly strategy: object;
  /** Pods beyond the wanted number, and missing from it, that a rollout may have. */
  readonly surge: (replicas: number) => number;
  readonly missing: (replicas: number) => number;
  replicas: number;
  version: number;
}

type Change = 'rollout' | 'up' | 'down';

/** What was asked of one app, and what it had before. */
interface Order {
  readonly app: App;
  readonly change: Change;
  readonly before: readonly PodLife[];
  readonly replicasBefore: number;
}

const REPLICAS_MAX = 12;
const REPLICAS_MIN = 2;
/** Makes the rows of pods long, so that the WAL grows and is checkpointed under way. */
const PADDING = 'x'.repeat(6_000);

function rolling(maxSurge: string | number, maxUnavailable: string | number): object {
  return { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } };
}

const quarterUp = (n: number): number => Math.ceil(n / 4);
const quarterDown = (n: number): number => Math.floor(n / 4);
const none = (): number => 0;

function apps(): App[] {
  return [
    {
      name: 'usual',
      strategy: rolling('25%', '25%'),
      surge: quarterUp,
      missing: quarterDown,
      replicas: 6,
      version: 1,
    },
    {
      name: 'sparing',
      strategy: rolling(0, 1),
      surge: none,
      missing: () => 1,
      replicas: 4,
      version: 1,
    },
    {
      name: 'careful',
      strategy: rolling(2, 0),
      surge: () => 2,
      missing: none,
      replicas: 5,
      version: 1,
    },
    {
      name: 'recreated',
      strategy: { type: 'Recreate' },
      surge: none,
      missing: (n) => n,
      replicas: 3,
      version: 1,
    },
  ];
}

function labelsOf(app: App): { app: string } {
  return { app: app.name };
}

function templateOf(app: App): object {
  return template(`${app.version}`, { annotations: { padding: PADDING } }, labelsOf(app));
}

/** The Deployments of one test. */
export class Fleet {
  readonly #apps = apps();
  #orders: Order[] = [];

  constructor(
    private readonly world: World,
    private readonly ledger: Ledger,
    private readonly random: Random,
  ) {}

  /** Creates all Deployments and waits for their pods. */
  async launch(): Promise<void> {
    for (const app of this.#apps) {
      const selector = { matchLabels: labelsOf(app) };
      const { strategy, replicas, name } = app;
      const fields = { selector, strategy, template: templateOf(app), revisionHistoryLimit: 3 };
      await this.world.create(deployment(replicas, fields, name));
    }
    await this.settled();
  }

  /** Waits until every Deployment is what it was last asked to be. */
  async settled(): Promise<void> {
    await Promise.all(this.#apps.map(({ name }) => this.world.rolledOut(name)));
    await this.ledger.reach();
  }

  /** Changes most Deployments at once; says what it did. */
  async change(): Promise<string[]> {
    const chosen = this.#apps.filter(() => this.random.next() < 0.75);
    this.#orders = chosen.map((app) => this.#decide(app));
    await Promise.all(
      this.#orders.map(({ app }) =>
        this.world.merge('deployments', app.name, {
          spec: { replicas: app.replicas, template: templateOf(app) },
        }),
      ),
    );
    return this.#orders.map(({ app, change }) => `${app.name} ${change} to ${app.replicas}`);
  }

  /** Everything that happened since the change and should not have. */
  complaints(): string[] {
    const found = this.#orders.flatMap((order) => this.#judge(order));
    const changed = new Set(this.#orders.map(({ app }) => app));
    for (const app of this.#apps) {
      if (!changed.has(app)) found.push(...this.#untouched(app));
    }
    found.push(...this.ledger.breaches.splice(0));
    return found;
  }

  #decide(app: App): Order {
    const replicasBefore = app.replicas;
    const before = this.ledger.of(app.name);
    const change = this.#draw(app);
    const step = 1 + Math.floor(this.random.next() * 4);
    if (change === 'rollout') app.version++;
    else if (change === 'up') app.replicas = Math.min(REPLICAS_MAX, app.replicas + step);
    else app.replicas = Math.max(REPLICAS_MIN, app.replicas - step);
    const wanted = app.replicas;
    const rollout = change === 'rollout';
    this.ledger.bound(app.name, {
      asked: Math.max(wanted, replicasBefore) + (rollout ? app.surge(wanted) : 0),
      ready: Math.min(wanted, replicasBefore) - (rollout ? app.missing(wanted) : 0),
    });
    return { app, change, before, replicasBefore };
  }

  #draw(app: App): Change {
    const dice = this.random.next();
    if (dice < 0.5) return 'rollout';
    if (app.replicas <= REPLICAS_MIN) return 'up';
    if (app.replicas >= REPLICAS_MAX) return 'down';
    return dice < 0.8 ? 'up' : 'down';
  }

  #judge({ app, change, before, replicasBefore }: Order): string[] {
    const known = new Set(before.map(({ uid }) => uid));
    const after = this.ledger.of(app.name);
    const created = after.filter(({ uid }) => !known.has(uid));
    const lost = created.filter(({ deleting }) => deleting);
    const living = after.filter(({ deleting }) => !deleting);
    const hashes = new Set(living.map(({ hash }) => hash));
    const wantedNew =
      change === 'rollout' ? app.replicas : Math.max(0, app.replicas - replicasBefore);
    const complaints: string[] = [];
    const say = (what: string): void => {
      complaints.push(`${app.name} (${change}, ${replicasBefore} to ${app.replicas}): ${what}`);
    };
    if (created.length !== wantedNew) {
      const names = created.map(({ name, deleting }) => name + (deleting ? ' (deleted)' : ''));
      say(`${created.length} pods were created, ${wantedNew} had to be: ${names.join(' ')}`);
    }
    if (lost.length > 0) say(`new pods were deleted: ${lost.map(({ name }) => name).join(' ')}`);
    if (living.length !== app.replicas) say(`${living.length} pods are alive at the end`);
    if (hashes.size !== 1) say(`pods of ${hashes.size} templates are alive at the end`);
    return complaints;
  }

  #untouched(app: App): string[] {
    const living = this.ledger.of(app.name).filter(({ deleting }) => !deleting);
    if (living.length === app.replicas) return [];
    return [`${app.name} was not touched and has ${living.length} pods`];
  }
}
