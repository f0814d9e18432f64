/**
 * `make musl`: compiles the binary for musl as a release does, and prints the path of a program that
 * runs it on a machine of glibc: with the libstdc++ of this machine, whose other needs
 * test/rig/musl/glibc.c fulfils. So it is tried with musl's C library, not with Alpine's libstdc++.
 */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { command, ROOT } from './release/command.ts';
import { compile, sources } from './release/sources.ts';
import { fetchRuntime, TARGETS } from './release/targets.ts';

const DIST = join(ROOT, 'dist');
const FOLDER = join(DIST, 'musl');
const LIBRARIES = join(FOLDER, 'lib');
const CPU = process.arch === 'arm64' ? 'arm64' : 'amd64';
const LOADER = CPU === 'arm64' ? 'ld-linux-aarch64.so.1' : 'ld-linux-x86-64.so.2';

/** Debian's compiler for musl, which brings musl's loader; installed where that is possible. */
async function needCompiler(): Promise<void> {
  if (Bun.which('musl-gcc') !== null) return;
  if (process.getuid?.() !== 0 || Bun.which('apt-get') === null) {
    throw new Error('musl-gcc is missing: it is in the package musl-tools of Debian');
  }
  console.error('installing musl-tools');
  await command(['apt-get', 'update', '-qq']);
  const words = ['install', '-y', '-qq', '--no-install-recommends', 'musl-tools'];
  await command(['apt-get', ...words], { DEBIAN_FRONTEND: 'noninteractive' });
}

async function makeLibraries(): Promise<void> {
  mkdirSync(LIBRARIES, { recursive: true });
  for (const name of ['libstdc++.so.6', 'libgcc_s.so.1']) {
    const path = (await command(['gcc', `-print-file-name=${name}`])).trim();
    if (path === name) throw new Error(`gcc knows of no ${name}`);
    copyFileSync(path, join(LIBRARIES, name));
  }
  const source = join(ROOT, 'test', 'rig', 'musl', 'glibc.c');
  const out = join(LIBRARIES, LOADER);
  await command(['musl-gcc', '-shared', '-fPIC', '-O2', '-o', out, source]);
}

async function main(): Promise<void> {
  const target = TARGETS.find(({ name }) => name === `linux-${CPU}-musl`);
  if (target === undefined) throw new Error(`there is no release for musl on ${CPU}`);
  await needCompiler();
  await makeLibraries();
  console.error(`compiling ${target.name}`);
  const runtime = await fetchRuntime(target.runtime, join(DIST, 'runtimes'));
  const { binary } = await compile(target, runtime, join(FOLDER, target.name), await sources(true));
  const program = join(FOLDER, 'holdfast');
  const script = `#!/bin/sh\nLD_LIBRARY_PATH=${LIBRARIES} exec ${binary} "$@"\n`;
  writeFileSync(program, script, { mode: 0o755 });
  console.error((await command([program, 'version'])).trim());
  console.log(program);
}

try {
  await main();
} catch (error) {
  console.error(`no binary for musl: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
