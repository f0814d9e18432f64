/**
 * Compiles dist/holdfast. `--runtime FILE` puts another machine's Bun into it (`make release` does
 * so for each target), `--metafile FILE` writes down what was bundled.
 */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const ROOT = join(import.meta.dir, '..');
const { values } = parseArgs({
  options: {
    target: { type: 'string' },
    runtime: { type: 'string' },
    metafile: { type: 'string' },
    outfile: { type: 'string', default: 'dist/holdfast' },
  },
});

/** Files that run as threads of their own have to be named to the bundler. */
const WORKERS = ['src/lease/worker.ts', 'src/store/checkpoint-worker.ts'];

async function commit(): Promise<string> {
  const git = Bun.spawn(['git', 'rev-parse', 'HEAD'], { cwd: ROOT, stderr: 'ignore' });
  const hash = (await new Response(git.stdout).text()).trim();
  return (await git.exited) === 0 ? hash : 'unknown';
}

/** SOURCE_DATE_EPOCH, when set, makes two builds of one commit the same. */
function buildDate(): string {
  const epoch = process.env.SOURCE_DATE_EPOCH;
  const ms = epoch === undefined ? Date.now() : Number(epoch) * 1000;
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

function given(name: string, value: string | undefined): string[] {
  return value === undefined ? [] : [`--${name}=${value}`];
}

async function build(): Promise<number> {
  const outfile = resolve(ROOT, values.outfile);
  mkdirSync(dirname(outfile), { recursive: true });
  const define = (name: string, value: string) => ['--define', `${name}=${JSON.stringify(value)}`];
  const run = Bun.spawn(
    [
      process.execPath,
      'build',
      '--compile',
      '--minify',
      '--bytecode',
      '--format=esm',
      '--splitting',
      '--sourcemap',
      '--no-compile-autoload-dotenv',
      '--no-compile-autoload-bunfig',
      '--root=src',
      ...given('target', values.target),
      ...given('compile-executable-path', values.runtime),
      ...given('metafile', values.metafile),
      ...define('HOLDFAST_COMMIT', await commit()),
      ...define('HOLDFAST_BUILD_DATE', buildDate()),
      `--outfile=${outfile}`,
      'src/main.ts',
      ...WORKERS.filter((file) => existsSync(join(ROOT, file))),
    ],
    { cwd: ROOT, stdout: 'pipe', stderr: 'pipe' },
  );
  const [out, errors] = await Promise.all([
    new Response(run.stdout).text(),
    new Response(run.stderr).text(),
  ]);
  const code = await run.exited;
  if (code !== 0) {
    console.error(`building ${values.outfile} failed:\n${out}${errors}`);
    return code;
  }
  const megabytes = (statSync(outfile).size / 1e6).toFixed(0);
  console.log(`built ${values.outfile} (${megabytes} MB)`);
  return 0;
}

process.exit(await build());
