/** What troubles are made with: a cluster, the way to it, the disk, and the processes on it. */
import { join } from 'node:path';
import type { Random } from '../../src/runtime/random.ts';
import { Line, SHORT_LEASE } from '../crash/killer.ts';
import { type Cluster, FaultProxy, freePort, TcpProxy } from '../rig/index.ts';
import { CAN_MOUNT, SmallDisk } from '../state/tmpfs.ts';

const DISK_BYTES = 24 * 1024 * 1024;
const FLAGS = ['--controllers=*', ...SHORT_LEASE, '-v=2'];
/** Longer than the renew deadline and than the Lease of these flags. */
export const LEASE_LOST_MS = 7_000;

/** Holdfast behind a wire that breaks, a proxy that lies, and on a disk of its own. */
export interface Stand {
  readonly cluster: Cluster;
  /** Connections: Holdfast's end. */
  readonly wire: TcpProxy;
  /** Requests: between the wire and the API server. */
  readonly proxy: FaultProxy;
  /** Undefined where nothing can be mounted. */
  readonly disk: SmallDisk | undefined;
  readonly line: Line;
}

/** What a trouble gets: the stand, and a stream of chance of its own layer. */
export interface Scene extends Stand {
  readonly random: Random;
}

/** Something that goes wrong for a while; when it resolves, all is whole again. */
export type Trouble = (scene: Scene) => Promise<void>;

/** A number between the two. */
export function between(random: Random, least: number, most: number): number {
  return Math.floor(least + random.next() * (most - least + 1));
}

/** Lasts so many milliseconds, by lot. */
export function lasting({ random }: Scene, least: number, most: number): Promise<void> {
  return Bun.sleep(between(random, least, most));
}

/** Starts Holdfast on a cluster; everything ends with it. */
export async function makeStand(cluster: Cluster, compiled: boolean): Promise<Stand> {
  const proxy = await FaultProxy.start(cluster);
  const wire = await TcpProxy.start(await freePort(), proxy.port);
  cluster.onStop(() => wire.stop());
  const disk = CAN_MOUNT ? new SmallDisk(DISK_BYTES) : undefined;
  cluster.onStop(() => disk?.remove());
  const line = await Line.start(cluster, {
    flags: FLAGS,
    compiled,
    kubeconfig: cluster.kubeconfig('kube-controller-manager', wire.url),
    ...(disk === undefined ? {} : { stateDir: join(disk.dir, 'state') }),
  });
  // The disk can't be unmounted for good before.
  cluster.onStop(() => line.end());
  return { cluster, wire, proxy, disk, line };
}
