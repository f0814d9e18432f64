import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { cleanUp, SLOW_TEST_MS, startChild, temporaryDirectory, until } from './testing/kit.ts';

setDefaultTimeout(SLOW_TEST_MS);
afterAll(cleanUp);

const ROOT = join(import.meta.dir, '..', '..');

test('a compiled binary has its helper thread and its migrations with it', async () => {
  const binary = join(temporaryDirectory(), 'child');
  const flags = ['--compile', '--minify', '--bytecode', '--format=esm', '--root=src'];
  const files = ['src/store/testing/child.ts', 'src/store/checkpoint-worker.ts'];
  const command = [process.execPath, 'build', ...flags, `--outfile=${binary}`, ...files];
  const built = Bun.spawnSync(command, { cwd: ROOT, stdout: 'pipe', stderr: 'pipe' });
  expect(built.exitCode, built.stderr.toString()).toBe(0);
  const dir = temporaryDirectory();
  const child = startChild('write', dir, { binary });
  await until(() => child.lines.length > 20);
  await child.kill();
});
