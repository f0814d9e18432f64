/** Holdfast's entry: parse, then run until asked to stop. */
import { runConfig } from './app/config.ts';
import { runManager } from './app/run.ts';
import { deploymentController } from './controllers/deployment/index.ts';
import { replicaSetController } from './controllers/replicaset/index.ts';
import { replicationControllerController } from './controllers/replicationcontroller/index.ts';
import { parseOptions } from './options/index.ts';

const parsed = parseOptions(process.argv.slice(2), process.env);
if (parsed.kind !== 'options') {
  console.error(parsed);
  process.exit(1);
}
const stopAsked = new Promise<string>((resolve) => {
  process.once('SIGTERM', () => resolve('SIGTERM'));
  process.once('SIGINT', () => resolve('SIGINT'));
});
const config = runConfig(
  parsed.options,
  [deploymentController, replicaSetController, replicationControllerController],
  process.env,
);
process.exit(
  await runManager(config, {
    write: (line) => process.stderr.write(`${line}\n`),
    stopAsked,
    onReload: (callback) => process.on('SIGHUP', callback),
  }),
);
