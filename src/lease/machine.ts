/** Which machine and which boot of it this is. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';

export interface Machine {
  /** Differs at each boot; "" if unknown. */
  readonly bootId: string;
  /** Of the installation; "" if unknown. */
  readonly machineId: string;
  readonly hostName: string;
}

const BOOT_ID = '/proc/sys/kernel/random/boot_id';
const MACHINE_IDS = ['/etc/machine-id', '/var/lib/dbus/machine-id'];
const MACHINE_ID = /^[0-9a-f]{32}$/i;

/** Reads who and when we are from the system; what can't be read is "". */
export function readMachine(): Machine {
  const machineId = MACHINE_IDS.map(readLine).find((id) => MACHINE_ID.test(id)) ?? '';
  return { bootId: readLine(BOOT_ID), machineId, hostName: hostname() };
}

function readLine(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}
