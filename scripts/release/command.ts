/** Runs programs for the release. */
import { join } from 'node:path';

export const ROOT = join(import.meta.dir, '..', '..');

/** What a program printed. Throws with its name and everything it printed if it fails. */
export async function command(
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd = ROOT,
): Promise<string> {
  const run = Bun.spawn([...words], {
    cwd,
    env: { ...process.env, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, errors] = await Promise.all([
    new Response(run.stdout).text(),
    new Response(run.stderr).text(),
  ]);
  const code = await run.exited;
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}:\n${out}${errors}`);
  return out;
}
