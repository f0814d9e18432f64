/**
 * A Deployment's key that fails too often is given up, and taken up again: conflict after conflict,
 * while its ReplicaSet goes on changing. Both managers try as often.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import {
  type Cluster,
  eventually,
  FaultProxy,
  HoldfastManager,
  type Manager,
  startCluster,
} from '../rig/index.ts';
import { deployment, World } from '../scenarios/world.ts';

setDefaultTimeout(180_000);

const FLAGS = ['--controllers=deployment', '--leader-elect=false', '-v=2'];
const WATCH = /\/deployments\?.*watch=/;
const STATUS = /\/deployments\/web\/status/;
const TRIES = 15;
const TRIES_BEFORE_DEATH = 8;
/** What each says of a try that comes again, and of the end. */
const WORDS = {
  reference: { again: 'Error syncing deployment', end: 'Dropping deployment out of the queue' },
  holdfast: { again: 'will be tried again', end: 'Dropping the key out of the queue' },
};

/** One manager, the only controller of Deployments on its cluster; ReplicaSets are the test's. */
class Side {
  /** The ReplicaSet of the Deployment. */
  #replicaSet = '';
  #touches = 0;

  private constructor(
    readonly name: keyof typeof WORDS,
    readonly world: World,
    readonly proxy: FaultProxy,
    private manager: Manager,
  ) {}

  static async open(cluster: Cluster | undefined, name: Side['name']): Promise<Side> {
    if (cluster === undefined) throw new Error('the cluster did not start');
    const world = new World(cluster, await cluster.namespace('given-up'));
    const proxy = await FaultProxy.start(cluster);
    return new Side(name, world, proxy, await start(cluster, name, proxy));
  }

  /** Makes a Deployment that has rolled out. */
  async rollOut(): Promise<void> {
    const { world } = this;
    await world.create(deployment(1));
    const [one] = await world.untilList('replicasets', (all) => all.length === 1, 'a ReplicaSet');
    this.#replicaSet = one?.metadata.name;
    await this.setReady(1);
    await world.rolledOut();
  }

  /** Sets what the Deployment's status must follow. */
  async setReady(ready: number): Promise<void> {
    await this.world.api.patchStatus('replicasets', this.world.namespace, this.#replicaSet, {
      replicas: 1,
      fullyLabeledReplicas: 1,
      readyReplicas: ready,
      availableReplicas: ready,
      observedGeneration: 1,
    });
  }

  /** Waits until the Deployment's status shows it. */
  async shows(ready: number): Promise<void> {
    await this.world.until('deployments', 'web', ({ status }) => {
      return (status.readyReplicas ?? 0) === ready;
    });
  }

  /** An event that makes the Deployment's key come at once. */
  async touch(): Promise<void> {
    const annotations = { touched: `${++this.#touches}` };
    await this.world.merge('replicasets', this.#replicaSet, { metadata: { annotations } });
  }

  /**
   * Goes on touching until enough syncs have failed or the key is given up; gives how many have
   * since the log was so long, default: until now.
   */
  async wearOut(enough: number, since = this.manager.log().length): Promise<number> {
    await this.setReady(0);
    for (;;) {
      const { failed, ended } = this.#told(since);
      if (ended || failed >= enough) return failed;
      await this.touch();
      const more = (): boolean => this.#told(since).failed > failed || this.#told(since).ended;
      await eventually(more, { everyMs: 20, describe: `${this.name}: one more failure` });
    }
  }

  /** Ends the process in the middle of everything, and starts the next one. */
  async restart(): Promise<void> {
    this.manager.kill('SIGKILL');
    await this.manager.waitExit();
    this.manager = await start(this.world.cluster, this.name, this.proxy, this.manager);
  }

  /** What the log says of failed syncs since it was so long, up to the end. */
  #told(since: number): { readonly failed: number; readonly ended: boolean } {
    const { again, end } = WORDS[this.name];
    const [before = '', ...after] = this.manager.log().slice(since).split(end);
    return { failed: before.split(again).length - 1, ended: after.length > 0 };
  }
}

async function start(
  cluster: Cluster,
  name: Side['name'],
  proxy: FaultProxy,
  last?: Manager,
): Promise<Manager> {
  const kubeconfig = cluster.kubeconfig('kube-controller-manager', proxy.url);
  const folders =
    last instanceof HoldfastManager ? { stateDir: last.stateDir, runtimeDir: last.runtimeDir } : {};
  const options = { flags: FLAGS, kubeconfig };
  const manager = await (name === 'reference'
    ? cluster.startReference(options)
    : cluster.startHoldfast({ ...options, ...folders }));
  await manager.waitServing();
  return manager;
}

let clusters: readonly Cluster[] = [];
let sides: readonly Side[] = [];

beforeAll(async () => {
  clusters = await Promise.all([startCluster({ audit: false }), startCluster({ audit: false })]);
  const [one, other] = clusters;
  sides = await Promise.all([Side.open(one, 'reference'), Side.open(other, 'holdfast')]);
  await both((side) => side.rollOut());
});

afterAll(async () => {
  await Promise.all(clusters.map((cluster) => cluster.stop()));
});

/** Lets both sides do the same at the same time; gives what each came to, the reference's first. */
function both<T>(play: (side: Side) => Promise<T>): Promise<T[]> {
  return Promise.all(sides.map(play));
}

test('because its watch was silent: it is taken up when the watch speaks again', async () => {
  const tries = await both(async (side) => {
    const { proxy, world } = side;
    proxy.mute(WATCH);
    await world.merge('deployments', 'web', { metadata: { annotations: { unseen: 'yes' } } });
    const failed = await side.wearOut(Number.POSITIVE_INFINITY);
    await side.shows(1);
    proxy.unmute();
    await side.shows(0);
    return failed;
  });
  expect(tries).toEqual([TRIES, TRIES]);
});

test('by two processes: the second has all its tries again, and an event takes it up', async () => {
  const tries = await both(async (side) => {
    await side.setReady(1);
    await side.shows(1);
    const heal = side.proxy.fail({ method: 'PUT', path: STATUS, fault: { status: 409 } });
    await side.wearOut(TRIES_BEFORE_DEATH);
    await side.restart();
    const failed = await side.wearOut(Number.POSITIVE_INFINITY, 0);
    heal();
    await side.touch();
    await side.shows(0);
    return failed;
  });
  expect(tries).toEqual([TRIES, TRIES]);
});
