/** How to look at what `make run` has started. */
import { join, relative } from 'node:path';
import { type Cluster, HoldfastManager, type Manager, REPOSITORY } from '../../test/rig/index.ts';
import { NAMESPACE } from './sample.ts';

/** Lines to copy into a second terminal. */
export function howToLook(cluster: Cluster, manager: Manager): string {
  const short = (path: string) => relative(REPOSITORY, path);
  const pki = join(cluster.dir, 'pki');
  const curl = `curl --cacert ${short(cluster.files.ca)}`;
  const admin = `--cert ${short(join(pki, 'user-admin.crt'))} --key ${short(join(pki, 'user-admin.key'))}`;
  const lines = [
    'Look at it from a second terminal, in this folder:',
    `  .run/kubectl -n ${NAMESPACE} get pods -o wide`,
    `  ${curl} ${manager.url}/healthz`,
    `  ${curl} ${admin} ${manager.url}/metrics`,
    `  ${curl} ${admin} ${manager.url}/configz`,
  ];
  if (manager instanceof HoldfastManager) {
    const state = short(manager.stateDir);
    lines.push(
      `  dist/holdfast state queues --state-dir ${manager.stateDir}`,
      `  dist/holdfast state journal --state-dir ${manager.stateDir}`,
      `  sqlite3 -readonly ${state}/state.db 'SELECT controller, key, outcome, because FROM journal ORDER BY id DESC LIMIT 10'`,
    );
  }
  lines.push(`  tail -f ${short(manager.logPath)}`);
  return lines.join('\n');
}
