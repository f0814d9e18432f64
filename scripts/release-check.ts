/**
 * `make release-check`: compiles every target twice, here and from a clone in another folder with
 * its own copy of the packages, and compares the bytes. `--only NAME` checks one target.
 */
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { command, ROOT } from './release/command.ts';
import { compile, sources } from './release/sources.ts';
import { fetchRuntime, TARGETS } from './release/targets.ts';

const { values } = parseArgs({ options: { only: { type: 'string' } } });
const other = mkdtempSync(join(tmpdir(), 'holdfast-again-'));
const sha256 = (path: string): string =>
  createHash('sha256').update(readFileSync(path)).digest('hex');

try {
  const from = await sources();
  await command(['git', 'clone', '-q', ROOT, join(other, 'tree')]);
  await command(['cp', '-a', join(ROOT, 'node_modules'), join(other, 'tree')]);
  for (const target of TARGETS) {
    if (values.only !== undefined && target.name !== values.only) continue;
    const runtime = await fetchRuntime(target.runtime, join(ROOT, 'dist', 'runtimes'));
    const copy = join(other, 'runtime');
    copyFileSync(runtime, copy);
    const here = join(ROOT, 'dist', 'release-work', target.name);
    const there = join(other, 'out', target.name);
    mkdirSync(there, { recursive: true });
    const one = await compile(target, runtime, here, from);
    const two = await compile(target, copy, there, from, join(other, 'tree'));
    const [first, second] = [sha256(one.binary), sha256(two.binary)];
    const same = first === second;
    console.log(`${target.name.padEnd(18)} ${same ? `the same: ${first}` : 'DIFFERS'}`);
    if (!same) process.exitCode = 1;
    rmSync(here, { recursive: true });
  }
} finally {
  rmSync(other, { recursive: true, force: true });
}
