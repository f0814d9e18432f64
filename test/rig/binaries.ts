/** Where the real Kubernetes binaries are: built once by build.sh into a cache outside the tree. */
import { dirname, join } from 'node:path';

export const RIG_FOLDER = import.meta.dir;
export const REPOSITORY = dirname(dirname(RIG_FOLDER));

/** Names of the binaries the build makes. */
export type Binary =
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'kubectl';

/** Folders of binaries by the script that builds them. */
const folders = new Map<string, Promise<string>>();

async function build(script: string): Promise<string> {
  const run = Bun.spawn(['bash', join(RIG_FOLDER, script)], {
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const output = await new Response(run.stdout).text();
  if ((await run.exited) !== 0) {
    throw new Error('building the rig binaries failed: see the lines above, or run `make rig`');
  }
  return output.trim().split('\n').at(-1) ?? '';
}

function builtBy(script: string): Promise<string> {
  const folder = folders.get(script) ?? build(script);
  folders.set(script, folder);
  return folder;
}

/** The folder of the binaries; builds what is missing first (minutes the first time). */
export function binariesFolder(): Promise<string> {
  return builtBy('build.sh');
}

/** The path of one binary. */
export async function binary(name: Binary): Promise<string> {
  return join(await binariesFolder(), name);
}

/** The path of the metrics-server, whose module is a separate one; builds it first if missing. */
export async function metricsServerBinary(): Promise<string> {
  return join(await builtBy('metrics-server/build.sh'), 'metrics-server');
}

/** The path of kine, the datastore of k3s; builds it first if missing. */
export async function kineBinary(): Promise<string> {
  return join(await builtBy('kine/build.sh'), 'kine');
}
