/** Simulated nodes in a process of their own, so that they don't share the test's event loop. */
import { join } from 'node:path';
import { RIG_FOLDER } from './binaries.ts';
import type { Child } from './child.ts';
import type { Cluster } from './cluster.ts';
import { eventually } from './eventually.ts';

/** The options that travel over a command line. Times in milliseconds. */
export interface NodesApartOptions {
  readonly count?: number;
  readonly prefix?: string;
  readonly readyDelayMs?: number;
  readonly heartbeatMs?: number;
  readonly bind?: boolean;
  readonly clearTaint?: boolean;
  /** Value of the nodes' zone label; default none. */
  readonly zone?: string;
}

const START_TIMEOUT_MS = 120_000;

/** Starts the process and waits until its nodes are registered. It ends with the cluster. */
export async function simulateNodesApart(
  cluster: Cluster,
  options: NodesApartOptions = {},
): Promise<Child> {
  const { count = 1, prefix = 'node', readyDelayMs = 0, heartbeatMs = 10_000 } = options;
  const child = cluster.spawn(`nodes-${prefix}`, [
    process.execPath,
    join(RIG_FOLDER, 'nodes-main.ts'),
    `--kubeconfig=${cluster.kubeconfig('admin')}`,
    `--count=${count}`,
    `--prefix=${prefix}`,
    `--ready-delay=${readyDelayMs}ms`,
    `--heartbeat=${heartbeatMs}ms`,
    ...(options.bind ? ['--bind'] : []),
    ...(options.clearTaint ? ['--clear-taint'] : []),
    ...(options.zone === undefined ? [] : [`--zone=${options.zone}`]),
  ]);
  const ready = () => {
    if (child.log().includes('ready\n')) return true;
    return child.running ? false : 'ended';
  };
  const describe = `${count} simulated nodes`;
  const outcome = await eventually(ready, { timeoutMs: START_TIMEOUT_MS, describe });
  if (outcome === 'ended') throw new Error(`the simulated nodes did not start\n${child.tail()}`);
  return child;
}
