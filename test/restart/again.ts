/** Killing Holdfast and starting it again. */
import type { Cluster, HoldfastManager } from '../rig/index.ts';

/** Whether the next process starts on what the one before left. */
export type Memory = 'kept' | 'lost';

/** Kills it; gives the next one, with these flags and the same port. */
export async function killAndStart(
  cluster: Cluster,
  holdfast: HoldfastManager,
  flags: readonly string[],
  memory: Memory = 'kept',
): Promise<HoldfastManager> {
  const { stateDir, runtimeDir, port } = holdfast;
  holdfast.kill('SIGKILL');
  await holdfast.waitExit();
  if (memory === 'kept') return await cluster.startHoldfast({ flags, port, stateDir, runtimeDir });
  // Nobody is to wait for a Lease that the new process can't know to be its own.
  await cluster.api.remove('leases', 'kube-system', 'kube-controller-manager');
  return await cluster.startHoldfast({ flags, port });
}
