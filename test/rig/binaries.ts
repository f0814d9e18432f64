/** Where the real Kubernetes binaries are: built once by build.sh into a cache outside the tree. */
import { dirname, join } from 'node:path';

export const RIG_FOLDER = import.meta.dir;
export const REPOSITORY = dirname(dirname(RIG_FOLDER));
/** "1.35": clusters get the kube-apiserver of that version. */
const OTHER_SERVER = process.env.HOLDFAST_RIG_SERVER || undefined;
/** Version of the clusters' kube-apiserver: "1.36" if no other one is asked for. */
export const SERVER_VERSION = OTHER_SERVER ?? '1.36';
/** "1.34": the kube-apiserver emulates that version, with the fields and kinds it had. */
export const EMULATED_VERSION = process.env.HOLDFAST_RIG_EMULATED || undefined;

/** Names of the binaries the build makes. */
export type Binary =
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'kubectl';

/** Folders of binaries by the script that builds them. */
const folders = new Map<string, Promise<string>>();

async function build(script: string, args: readonly string[]): Promise<string> {
  const run = Bun.spawn(['bash', join(RIG_FOLDER, script), ...args], {
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const output = await new Response(run.stdout).text();
  if ((await run.exited) !== 0) {
    throw new Error('building the rig binaries failed: see the lines above, or run `make rig`');
  }
  return output.trim().split('\n').at(-1) ?? '';
}

function builtBy(script: string, ...args: readonly string[]): Promise<string> {
  const folder = folders.get(script) ?? build(script, args);
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

/**
 * The path of the kube-apiserver that clusters run: the rig's own, or with HOLDFAST_RIG_SERVER=1.35
 * the one of that version; builds it first if missing.
 */
export async function apiServerBinary(): Promise<string> {
  if (OTHER_SERVER === undefined) return await binary('kube-apiserver');
  return join(await builtBy('servers/build.sh', OTHER_SERVER), 'kube-apiserver');
}
