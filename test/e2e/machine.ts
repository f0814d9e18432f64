/** Where `make e2e` has put us: its namespaces, control groups and binaries. */
import { readdirSync, readFileSync } from 'node:fs';

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
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return ids.map(Number).filter((id) => readProc(id, 'cgroup').includes(`/pod${uid}/`));
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
