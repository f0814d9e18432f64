/**
 * Writes to a store until it has done its rounds, for the recording: `bun writer.ts DIR`. Each round
 * changes one row and moves the resume point to the same version, so that a file tells by itself
 * whether both are of one moment.
 */
import { systemClock } from '../../src/runtime/clock.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { openStore } from '../../src/store/index.ts';
import { collectingLogger, objectRow, setPoint, workRow } from '../../src/store/testing/kit.ts';
import { KEYS, RESOURCE } from './rounds.ts';

const ROUNDS = 900;
/** Long rows: the WAL is copied and begun anew several times. */
const PADDING = 12_000;

const [dir = ''] = process.argv.slice(2);
const log = collectingLogger();
const { store } = await openStore({ dir, clock: systemClock(), random: systemRandom(), log });
for (let version = 1; version <= ROUNDS; version++) {
  const pad = 'x'.repeat((version * 7919) % PADDING);
  store.objects.put(objectRow(RESOURCE, `default/p${version % KEYS}`, String(version), { pad }));
  setPoint(store, RESOURCE, version);
  store.work.put(workRow('queue', `default/p${version % KEYS}`, { failures: version }));
  if (version % 3 === 0) store.commit();
  if (version % 100 === 0) await Bun.sleep(60);
}
store.commit();
process.stdout.write(`${JSON.stringify(store.health())}\n`);
process.kill(process.pid, 'SIGKILL');
