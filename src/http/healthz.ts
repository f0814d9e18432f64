/** /healthz in upstream's words: `ok`, or one line per check. */
import type { HealthCheck } from '../runtime/status.ts';

export interface HealthAnswer {
  readonly status: 200 | 500;
  readonly body: string;
  /** Each check's name and whether it passed, for the health metrics. */
  readonly results: readonly { readonly name: string; readonly ok: boolean }[];
}

/** Runs the checks in order, leaving out those that the request excludes. */
export async function answerHealth(
  checks: readonly HealthCheck[],
  excluded: readonly string[],
  verbose: boolean,
): Promise<HealthAnswer> {
  const all = checks.length > 0 ? checks : [{ name: 'ping', check: () => undefined }];
  const lines: string[] = [];
  const results: { name: string; ok: boolean }[] = [];
  for (const { name, check } of all) {
    if (excluded.includes(name)) {
      lines.push(`[+]${name} excluded: ok`);
      continue;
    }
    const problem = await check();
    results.push({ name, ok: problem === undefined });
    lines.push(problem === undefined ? `[+]${name} ok` : `[-]${name} failed: reason withheld`);
  }
  const names = [...new Set(excluded)].sort();
  const unknown = names.filter((name) => !all.some((check) => check.name === name));
  if (unknown.length > 0) {
    const quoted = unknown.map((name) => `"${name}"`).join(',');
    lines.push(`warn: some health checks cannot be excluded: no matches for ${quoted}`);
  }
  const failed = results.some(({ ok }) => !ok);
  if (failed) return { status: 500, body: `${lines.join('\n')}\nhealthz check failed\n`, results };
  const body = verbose ? `${lines.join('\n')}\nhealthz check passed\n` : 'ok';
  return { status: 200, body, results };
}
