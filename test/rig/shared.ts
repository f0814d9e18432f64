/** Clusters that several test files use together. */
import { type Cluster, type ClusterOptions, startCluster } from './cluster.ts';

const KEY = Symbol.for('holdfast.rig.shared');
const shared = globalThis as { [KEY]?: Map<string, Promise<Cluster>> };

/**
 * One cluster for all test files of a `bun test` run that ask with the same name; each uses
 * namespaces of its own (`cluster.namespace()`). The options of the first caller count. A manager
 * leads the whole cluster, so tests that start one should use a name of their own, or agree.
 * Never stop it: the rig's watchdog removes it when the test process ends, however it ends.
 * After a test that timed out (then `bun test` kills all children) the next caller gets a new one.
 */
export async function sharedCluster(
  name = 'default',
  options: ClusterOptions = {},
): Promise<Cluster> {
  shared[KEY] ??= new Map();
  const clusters = shared[KEY];
  const before = clusters.get(name);
  const known = before && (await before.catch(() => undefined));
  if (known && (await known.healthy())) return known;
  // Somebody else may have noticed first while we waited.
  const now = clusters.get(name);
  if (now !== undefined && now !== before) return now;
  void known?.stop();
  const started = startCluster(options);
  clusters.set(name, started);
  return started;
}
