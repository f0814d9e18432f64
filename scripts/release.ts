/**
 * `make release`: for each target a binary and its SPDX list, Debian packages, licences, checksums
 * and figures, in dist/release. `--only NAME` makes one target, `--allow-dirty` tries it out.
 */
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bundledParts, licenceTexts, type Part, runtimeParts } from './release/bundled.ts';
import { command, ROOT } from './release/command.ts';
import { buildDeb } from './release/deb.ts';
import { compile, type Sources, sources } from './release/sources.ts';
import { spdxDocument } from './release/spdx.ts';
import { fetchRuntime, TARGETS, type Target } from './release/targets.ts';

const OUT = join(ROOT, 'dist', 'release');
const WORK = join(ROOT, 'dist', 'release-work');
const RUNTIMES = join(ROOT, 'dist', 'runtimes');
const STARTS = 15;

interface Figures {
  readonly file: string;
  readonly bytes: number;
  /** Median of `holdfast version`, milliseconds; absent where this machine can't run it. */
  readonly startMs?: number;
}

const sha256 = (path: string): string =>
  createHash('sha256').update(readFileSync(path)).digest('hex');

function runsHere({ target }: Target): boolean {
  return target === `bun-linux-${process.arch}`;
}

async function startMs(binary: string): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < STARTS; i++) {
    const since = performance.now();
    await command([binary, 'version']);
    times.push(performance.now() - since);
  }
  return Math.round(times.toSorted((a, b) => a - b)[Math.floor(STARTS / 2)] ?? 0);
}

async function makeTarget(target: Target, from: Sources): Promise<readonly Figures[]> {
  console.log(`making ${target.name} (a minute or two)`);
  const runtime = await fetchRuntime(target.runtime, RUNTIMES);
  const { binary, metafile } = await compile(target, runtime, join(WORK, target.name), from);
  const file = `holdfast-${from.version}-${target.name}`;
  const out = join(OUT, file);
  copyFileSync(binary, out);
  const parts: Part[] = [
    ...bundledParts(metafile),
    ...runtimeParts(target.runtime, process.versions as Record<string, string>),
  ];
  const spdx = spdxDocument({ ...from, file, sha256: sha256(out), parts });
  const spdxText = `${JSON.stringify(spdx, null, 1)}\n`;
  writeFileSync(`${out}.spdx.json`, spdxText);
  const licences = licenceTexts(readFileSync(join(ROOT, 'LICENSE'), 'utf8'), parts);
  writeFileSync(join(OUT, 'LICENSES.txt'), licences);
  const bytes = readFileSync(out).length;
  const start = runsHere(target) ? { startMs: await startMs(out) } : {};
  const figures: Figures[] = [{ file, bytes, ...start }];
  if (target.deb !== undefined) {
    const deb = `holdfast_${from.version}_${target.deb}.deb`;
    const documents = { 'LICENSES.txt': licences, 'holdfast.spdx.json': spdxText };
    await buildDeb({
      ...from,
      binary: out,
      architecture: target.deb,
      out: join(OUT, deb),
      compression: 'gzip',
      documents,
    });
    figures.push({ file: deb, bytes: readFileSync(join(OUT, deb)).length });
  }
  return figures;
}

function show({ file, bytes, startMs: ms }: Figures): void {
  const start = ms === undefined ? '' : `, starts in ${ms} ms`;
  console.log(`${file.padEnd(34)} ${(bytes / 1e6).toFixed(1).padStart(6)} MB${start}`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { only: { type: 'string' }, 'allow-dirty': { type: 'boolean', default: false } },
  });
  const targets = TARGETS.filter(({ name }) => values.only === undefined || name === values.only);
  if (targets.length === 0) {
    const valid = TARGETS.map(({ name }) => name).join(', ');
    throw new Error(`--only: found ${values.only}; valid are ${valid}`);
  }
  const from = await sources(values['allow-dirty']);
  for (const folder of [OUT, WORK]) rmSync(folder, { recursive: true, force: true });
  mkdirSync(OUT, { recursive: true });
  const figures: Figures[] = [];
  for (const target of targets) {
    const made = await makeTarget(target, from);
    made.forEach(show);
    figures.push(...made);
  }
  rmSync(WORK, { recursive: true, force: true });
  const made = { ...from, runtime: `Bun ${Bun.version}`, figures };
  writeFileSync(join(OUT, 'release.json'), `${JSON.stringify(made, null, 1)}\n`);
  const files = readdirSync(OUT).filter((file) => file !== 'release.json');
  const sums = files.toSorted().map((file) => `${sha256(join(OUT, file))}  ${file}\n`);
  writeFileSync(join(OUT, 'SHA256SUMS'), sums.join(''));
  console.log(`dist/release holds ${sums.length} files and SHA256SUMS`);
}

try {
  await main();
} catch (error) {
  console.error(`the release failed: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
