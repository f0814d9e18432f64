/** A process of its own for tests: `bun child.ts <what> <directory>`. Says on stdout how far it is. */
import { systemClock } from '../../runtime/clock.ts';
import { systemRandom } from '../../runtime/random.ts';
import { openStore, takeProcessLock } from '../index.ts';
import { collectingLogger, objectRow, START, workRow } from './kit.ts';

const [what = '', dir = ''] = process.argv.slice(2);

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function open() {
  return openStore({ dir, clock: systemClock(), random: systemRandom(), log: collectingLogger() });
}

/** Adds one row per commit for ever; says each number once it is committed. */
async function write(): Promise<void> {
  const { store } = await open();
  const known = [...store.objects.heads('pods')].length;
  for (let n = known; ; n++) {
    store.objects.put(objectRow('pods', `default/p${n}`, String(n), { pad: 'x'.repeat(n % 4000) }));
    store.objects.setResumePoint({
      resource: 'pods',
      resourceVersion: String(n),
      observedAt: START,
    });
    store.work.put(workRow('queue', `default/p${n % 10}`, { failures: n }));
    if (store.commit()) say(String(n));
    if (n % 50 === 0) await Bun.sleep(1);
  }
}

/** Writes so much that the WAL is started anew several times, then dies: an exit would close files. */
async function load(): Promise<void> {
  const { store } = await open();
  let walBytesHighest = 0;
  for (let n = 0; n < 600; n++) {
    for (let i = 0; i < 100; i++) {
      const key = `default/p${(n * 100 + i) % 20_000}`;
      store.objects.put(objectRow('pods', key, String(n), { pad: 'x'.repeat(900) }));
    }
    store.commit();
    walBytesHighest = Math.max(walBytesHighest, store.health().walBytes);
    // Pauses let the helper copy all of the WAL, after which the next writer may start it anew.
    await Bun.sleep(n % 20 === 0 ? 100 : 2);
  }
  say(JSON.stringify({ ...store.health(), walBytesHighest, pid: process.pid }));
  await Bun.sleep(10);
  process.kill(process.pid, 'SIGKILL');
}

function lock(): void {
  const result = takeProcessLock(dir, `pid ${process.pid}`);
  say(result.held ? 'held' : `${result.reason}: ${result.holder}`);
  if (!result.held) process.exit(0);
  setInterval(() => undefined, 1_000);
}

if (what === 'write') await write();
else if (what === 'load') await load();
else if (what === 'lock') lock();
else throw new Error(`unknown task ${what}`);
