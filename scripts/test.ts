/**
 * Runs everything: the rig's binaries, the build, style, types, then all tests, showing what they
 * print. Every step before the tests counts as one test. Ends with one line "N passed, N failed".
 * Arguments are handed on to `bun test`.
 */
import { join } from 'node:path';
import { binariesFolder } from '../test/rig/index.ts';
import { type Counts, countsOf, failuresOf } from './counts.ts';

const ROOT = join(import.meta.dir, '..');
/** Only hung tests come near it: single waits have shorter limits of their own. */
const TEST_TIMEOUT_MS = 180_000;

interface Step {
  readonly name: string;
  readonly command: readonly string[];
}

const STEPS: readonly Step[] = [
  { name: 'tools', command: ['scripts/tools.sh'] },
  { name: 'rig', command: ['test/rig/build.sh'] },
  { name: 'metrics-server', command: ['test/rig/metrics-server/build.sh'] },
  { name: 'build', command: [process.execPath, 'scripts/build.ts'] },
  { name: 'style', command: ['node_modules/.bin/biome', 'check', '.'] },
  { name: 'types', command: ['node_modules/.bin/tsc', '-p', '.'] },
];

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}

async function runStep(step: Step): Promise<boolean> {
  const since = performance.now();
  console.log(`== ${step.name}`);
  const run = Bun.spawn([...step.command], { cwd: ROOT, stdout: 'inherit', stderr: 'inherit' });
  const ok = (await run.exited) === 0;
  console.log(`== ${step.name}: ${ok ? 'ok' : 'FAILED'} (${seconds(since)})`);
  return ok;
}

/** Shows a stream as it comes and gives its text. */
async function tee(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) {
    process.stdout.write(chunk);
    text += decoder.decode(chunk, { stream: true });
  }
  return text;
}

async function runTests(): Promise<Counts> {
  console.log('== tests');
  const reference = join(await binariesFolder(), 'kube-controller-manager');
  const env = { ...process.env, NO_COLOR: '1', HOLDFAST_REFERENCE_KCM: reference };
  const run = Bun.spawn(
    [process.execPath, 'test', `--timeout=${TEST_TIMEOUT_MS}`, ...process.argv.slice(2)],
    { cwd: ROOT, stdout: 'pipe', stderr: 'pipe', env },
  );
  const [, errors] = await Promise.all([tee(run.stdout), tee(run.stderr)]);
  const code = await run.exited;
  const counts = countsOf(errors);
  for (const failure of failuresOf(errors)) console.log(`\n${failure}`);
  // A run that broke without a failed test in its counts is a failure all the same.
  if (code !== 0 && counts.failed === 0) counts.failed = 1;
  return counts;
}

async function main(): Promise<number> {
  const counts: Counts = { passed: 0, failed: 0 };
  for (const step of STEPS) {
    if (await runStep(step)) counts.passed += 1;
    else counts.failed += 1;
  }
  const tests = await runTests();
  counts.passed += tests.passed;
  counts.failed += tests.failed;
  console.log(`${counts.passed} passed, ${counts.failed} failed`);
  return counts.failed === 0 ? 0 : 1;
}

process.exit(await main());
