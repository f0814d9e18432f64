/** Another wall clock for one process, by libfaketime (package `faketime`); timers stay as they are. */
import { writeFileSync } from 'node:fs';

/** What the loader must load first, as the command of that package says; "" without it. */
const LIBRARY = Bun.spawnSync(['sh', '-c', 'faketime -f +0 printenv LD_PRELOAD'])
  .stdout.toString()
  .trim();

/** Without libfaketime the tests of wrong clocks can't run. */
export const HAS_FAKETIME = LIBRARY !== '' && works();

function works(): boolean {
  const shown = Bun.spawnSync([process.execPath, '-p', 'Date.now()'], {
    env: { ...process.env, LD_PRELOAD: LIBRARY, FAKETIME: '-1y' },
  });
  const behindMs = Date.now() - Number(shown.stdout.toString());
  return behindMs > 300 * 24 * 3_600_000;
}

/** The wall clock of a process, kept in a file that it reads again and again. */
export class WrongClock {
  constructor(private readonly path: string) {
    this.set('+0');
  }

  /** How far off: "-1y", "+2h", "+0"; counts at once, also for a process that runs. */
  set(offset: string): void {
    writeFileSync(this.path, offset);
  }

  /** Environment that gives a process this clock. */
  get env(): Record<string, string> {
    return {
      LD_PRELOAD: LIBRARY,
      FAKETIME_TIMESTAMP_FILE: this.path,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
  }
}
