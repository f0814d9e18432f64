/** Counting must agree with what `bun test` really prints. */
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countsOf, failuresOf } from './counts.ts';

test('counts are read from lines of their own', () => {
  expect(countsOf(' 13 pass\n 0 fail\n 59 expect() calls\n')).toEqual({ passed: 13, failed: 0 });
  expect(countsOf(' 2 pass\n 1 fail\n 1 error\n')).toEqual({ passed: 2, failed: 2 });
  expect(countsOf('(pass) 3 pass\nsaw 4 fail here\n')).toEqual({ passed: 0, failed: 0 });
});

test('a real run with a failure, a skip and a broken file is counted', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-counts-'));
  const head = "import { expect, test } from 'bun:test';\n";
  const some =
    "test('a', () => {});\ntest('b', () => expect(1).toBe(2));\ntest.skip('c', () => {});";
  writeFileSync(join(dir, 'some.test.ts'), head + some);
  writeFileSync(join(dir, 'broken.test.ts'), "throw new Error('broken');");
  const run = Bun.spawn([process.execPath, 'test'], { cwd: dir, stdout: 'pipe', stderr: 'pipe' });
  const output = await new Response(run.stderr).text();
  expect(await run.exited).not.toBe(0);
  const { passed, failed } = countsOf(output);
  expect(passed).toBe(1);
  expect(failed).toBeGreaterThanOrEqual(2);
  const [failure, ...more] = failuresOf(output);
  expect(failure).toMatch(
    /^\(fail\) b.*\nerror: expect\(received\)\.toBe\(expected\)\nExpected: 2\n/,
  );
  expect(more).toEqual([]);
  rmSync(dir, { recursive: true });
});
