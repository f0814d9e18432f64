/** The program: the command line, and the manager behind it. */
import { basename } from 'node:path';
import { runHoldfast } from './app/index.ts';
import { processTerminal, runCli } from './cli/index.ts';
import { CONTROLLERS } from './controllers/registry.ts';
import { systemClock } from './runtime/clock.ts';

const terminal = processTerminal();

const code = await runCli(process.argv.slice(2), {
  program: programName(),
  env: process.env,
  terminal,
  clock: systemClock(),
  pid: process.pid,
  runManager: (options, reread) =>
    runHoldfast(options, CONTROLLERS, {
      env: process.env,
      write: (lines) => process.stderr.write(`${lines}\n`),
      print: (lines) => process.stdout.write(`${lines}\n`),
      stopAsked: new Promise((resolve) => {
        for (const signal of ['SIGTERM', 'SIGINT'] as const) {
          process.once(signal, () => resolve(signal));
        }
      }),
      onReload: (callback) => process.on('SIGHUP', callback),
      reread,
    }),
});
process.exit(code);

/** The name people called this program by; run from source it is no other than its own. */
function programName(): string {
  const name = basename(process.execPath);
  return name.startsWith('bun') ? 'holdfast' : name;
}
