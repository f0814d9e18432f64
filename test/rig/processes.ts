/** Looking for processes that should be gone. */
import { readdirSync, readFileSync } from 'node:fs';

/** Numbers of the processes whose command line mentions `text`. */
export function processesMentioning(text: string): number[] {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return ids.map(Number).filter((id) => commandLine(id).includes(text));
}

function commandLine(id: number): string {
  try {
    return readFileSync(`/proc/${id}/cmdline`, 'utf8');
  } catch {
    // It ended between the listing and the reading.
    return '';
  }
}
