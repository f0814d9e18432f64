/** The same commit gives the same bytes, wherever it is compiled. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { bundledParts } from '../../scripts/release/bundled.ts';
import { command, ROOT } from '../../scripts/release/command.ts';
import { compile } from '../../scripts/release/sources.ts';
import { TARGETS } from '../../scripts/release/targets.ts';

setDefaultTimeout(180_000);

const target = TARGETS.find((one) => one.target === `bun-linux-${process.arch}`);
const why =
  target === undefined ? 'no target for it' : existsSync(join(ROOT, '.git')) ? '' : 'no git';
if (why !== '') console.log(`skipped: two compilations on this machine (${why})`);

test.skipIf(why !== '')('two clones in different folders give one binary', async () => {
  if (target === undefined) return;
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-twice-'));
  try {
    const build = async (name: string) => {
      const tree = join(dir, name, 'tree');
      await command(['git', 'clone', '-q', ROOT, tree]);
      // Real files: a link would lead back here and show in the source maps.
      await command(['cp', '-a', join(ROOT, 'node_modules'), tree]);
      return compile(target, process.execPath, join(dir, name, 'out'), { epoch: 1e9 }, tree);
    };
    const one = await build('one');
    const two = await build('another-place');
    expect(readFileSync(one.binary).equals(readFileSync(two.binary))).toBe(true);
    const inside = bundledParts(one.metafile).map(({ name }) => name);
    expect(inside).toEqual(expect.arrayContaining(Object.keys(manifest.dependencies)));
    const development = Object.keys(manifest.devDependencies);
    expect(inside.filter((name) => development.includes(name))).toEqual([]);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
