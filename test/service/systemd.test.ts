/** The Debian package and its unit under a real systemd, on a real cluster. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { accessSync, constants, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildDeb } from '../../scripts/release/deb.ts';
import { freePort, REPOSITORY, startCluster } from '../rig/index.ts';

setDefaultTimeout(300_000);

const HERE = import.meta.dir;
const BINARY = join(REPOSITORY, 'dist', 'holdfast');
const TOOLS = ['unshare', 'dpkg', 'dpkg-deb', 'journalctl', 'pivot_root'];

/** Why this machine can't boot a systemd in a namespace; "" if it can. */
function obstacle(): string {
  if (process.getuid?.() !== 0) return 'not root';
  if (!existsSync('/lib/systemd/systemd')) return 'no systemd';
  const missing = TOOLS.find((tool) => Bun.which(tool) === null);
  if (missing !== undefined) return `no ${missing}`;
  if (!readFileSync('/proc/filesystems', 'utf8').includes('overlay'))
    return 'no overlay file system';
  try {
    accessSync('/sys/fs/cgroup', constants.W_OK);
  } catch {
    return 'control groups can not be made';
  }
  const unshared = Bun.spawnSync(['unshare', '--mount', '--pid', '--fork', '--cgroup', 'true']);
  return unshared.success ? '' : 'no namespaces';
}

const why = obstacle();
if (why !== '') console.log(`skipped: the package under a real systemd (${why})`);

test.skipIf(why !== '')(
  'installed, started, reloaded, killed, hung, stopped, removed, purged',
  async () => {
    const cluster = await startCluster();
    try {
      const { dir } = cluster;
      const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';
      const deb = { binary: BINARY, architecture, version: '0.0.1', epoch: 1_000_000_000 } as const;
      await buildDeb({ ...deb, out: join(dir, 'holdfast.deb'), compression: 'none' });
      writeFileSync(join(dir, 'go.sh'), readFileSync(join(HERE, 'go.sh')));
      writeFileSync(
        join(dir, 'kubeconfig'),
        readFileSync(cluster.kubeconfig('kube-controller-manager')),
      );
      const flags = [
        'kubeconfig: /etc/holdfast/kubeconfig',
        'controllers: [replicaset-controller]',
        `secure-port: ${await freePort()}`,
        'bind-address: 127.0.0.1',
      ];
      writeFileSync(join(dir, 'config.yaml'), `kind: HoldfastConfiguration\n${flags.join('\n')}\n`);
      const boot = cluster.spawn('boot', ['bash', join(HERE, 'boot.sh'), dir]);
      await boot.waitExit(240_000);
      const log = existsSync(join(dir, 'go.log')) ? readFileSync(join(dir, 'go.log'), 'utf8') : '';
      if (!log.endsWith('end: ok\n')) throw new Error(`${log}\n${boot.tail()}`);
      expect(log.trim().split('\n')).toEqual([
        'installed: 0',
        'after the installation: inactive disabled',
        'configuration: 600',
        'without an API server: activating, started again 0 times',
        'started: 0',
        'state: active running',
        'status: Leading kube-system/kube-controller-manager',
        'directory: 700 /var/lib/holdfast',
        'directory: 700 /run/holdfast',
        `memory: ${512 * 1024 ** 2}`,
        'capabilities: 0000000000000000',
        'reloaded: 0',
        'log of the reload: 1',
        'after kill -9: Leading kube-system/kube-controller-manager',
        'led again at once: 1',
        'watchdog: 1',
        'after a hang: Leading kube-system/kube-controller-manager',
        'upgraded: active, restarted by systemd 0 times',
        'stopped: 0 success',
        'exit status: 0',
        'kept in /run: 1',
        'removed: 0 inactive /var/lib/holdfast/state.db',
        'purged: 0 0',
        'end: ok',
      ]);
    } finally {
      await cluster.stop();
    }
  },
);
