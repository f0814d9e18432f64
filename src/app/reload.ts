/** What SIGHUP changes besides certificates: the log level. */
import type { EffectiveFlag, Options } from '../options/index.ts';
import type { RootLogger } from '../runtime/log.ts';

const TAKEN_OVER = ['v', 'vmodule'];

/** Flags that have another value now and that only a start reads. */
function waitingFlags(started: readonly EffectiveFlag[], now: readonly EffectiveFlag[]): string[] {
  const before = new Map(started.map(({ name, value }) => [name, value]));
  return now
    .filter(({ name, value }) => !TAKEN_OVER.includes(name) && before.get(name) !== value)
    .map(({ name }) => name);
}

/**
 * Takes over -v and --vmodule as the command line and the file of --config give them now, in place
 * of what was set through /debug/flags/v. What is refused is logged and changes nothing.
 */
export function reloadLogLevel(
  log: Pick<RootLogger, 'info' | 'warning' | 'error' | 'setVerbosity' | 'setModuleLevels'>,
  started: Pick<Options, 'effective'>,
  reread: () => Pick<Options, 'effective' | 'logging'>,
): void {
  let now: Pick<Options, 'effective' | 'logging'>;
  try {
    now = reread();
  } catch (error) {
    log.error('Could not read the configuration again; keeping the log level', error);
    return;
  }
  const { verbosity, vmodule } = now.logging;
  log.setVerbosity(verbosity);
  log.setModuleLevels(vmodule);
  log.info('Reloaded the certificates and the log level', { v: verbosity });
  const flags = waitingFlags(started.effective, now.effective);
  if (flags.length > 0) log.warning('Changed flags count from the next start on', { flags });
}
