/** Where `make e2e` has put us: its namespaces, control groups and binaries. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { eventually } from '../rig/index.ts';

/** Why nothing can run here; "" inside of `make e2e`, which says itself what a machine lacks. */
export const OBSTACLE = process.env.HOLDFAST_E2E_GROUP ? '' : 'they run under `make e2e`';

/** Name of the control group under which all containers live. */
export function group(): string {
  return process.env.HOLDFAST_E2E_GROUP ?? '';
}

/** Folder of containerd, its shim, ctr, kubelet and pause. */
export function nodeBinaries(): string {
  return process.env.HOLDFAST_E2E_BIN ?? '';
}

/** Numbers of the live processes of a pod's containers, found by their control groups. */
export function processesOfPod(uid: string): number[] {
  return processesOf(`/pod${uid}/`);
}

/** Numbers of the live processes of one container, by the number that a pod's status has for it. */
export function processesOfContainer(containerId: string): number[] {
  return processesOf(`/${containerId.replace('containerd://', '')}\n`);
}

function processesOf(group: string): number[] {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return ids.map(Number).filter((id) => readProc(id, 'cgroup').includes(group));
}

/** Content of a file under /proc/ID; "" when the process has ended. */
function readProc(id: number, file: string): string {
  try {
    return readFileSync(`/proc/${id}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

/** Whether a process exists. */
export function lives(id: number): boolean {
  return readProc(id, 'stat') !== '';
}

/** Roots of the hierarchies of control groups: those of version 1, that of version 2, or both. */
function hierarchies(): string[] {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  return mounts.flatMap((line) => {
    const [, at, type] = line.split(' ');
    return at !== undefined && /^cgroup2?$/.test(type ?? '') ? [at] : [];
  });
}

/** Makes a control group in each hierarchy. */
export function makeGroups(path: string): void {
  for (const top of hierarchies()) mkdirSync(top + path, { recursive: true });
}

/** Removes all groups below a control group; resolves when the last process of them is buried. */
export async function emptyGroups(path: string): Promise<void> {
  const below = (folder: string): string[] => {
    const entries = existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [];
    const folders = entries.filter((entry) => entry.isDirectory());
    return folders.flatMap(({ name }) => [...below(`${folder}/${name}`), `${folder}/${name}`]);
  };
  const all = () => hierarchies().flatMap((top) => below(top + path));
  const emptied = (): boolean => {
    for (const folder of all()) rmdirSync(folder);
    return true;
  };
  await eventually(emptied, { describe: `the control groups below ${path} are empty` });
}
