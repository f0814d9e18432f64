/**
 * `make bench`: measures reference and Holdfast, prints one table and keeps the figures in
 * docs/bench/. Options: --quick (100 pods), --pods N, --idle SECONDS, --scale (many things at once
 * instead; with --quick a tenth of them), --subject reference|holdfast (only one), --out FILE.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  CROWD,
  FULL,
  measure,
  measureScale,
  QUICK,
  type Report,
  SMALL_CROWD,
  type Subject,
  tableOf,
} from '../test/bench/index.ts';
import { REPOSITORY } from '../test/rig/index.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    scale: { type: 'boolean', default: false },
    pods: { type: 'string' },
    idle: { type: 'string' },
    subject: { type: 'string' },
    out: { type: 'string' },
  },
});

const SUBJECTS: readonly Subject[] = ['reference', 'holdfast'];

function chosen(): readonly Subject[] {
  if (values.subject === undefined) return SUBJECTS;
  const found = SUBJECTS.filter((subject) => subject === values.subject);
  if (found.length > 0) return found;
  throw new Error(`--subject=${values.subject}: want one of ${SUBJECTS.join(', ')}`);
}

function countOf(option: 'pods' | 'idle', otherwise: number): number {
  const text = values[option];
  if (text === undefined) return otherwise;
  const count = Number(text);
  if (Number.isInteger(count) && count > 0) return count;
  throw new Error(`--${option}=${text}: want a whole number above 0`);
}

async function commit(): Promise<string> {
  const git = Bun.spawn(['git', 'describe', '--always', '--dirty'], { cwd: REPOSITORY });
  return (await new Response(git.stdout).text()).trim();
}

const base = values.quick ? QUICK : FULL;
const size = {
  ...base,
  pods: countOf('pods', base.pods),
  idleMs: 1_000 * countOf('idle', base.idleMs / 1_000),
};
const subjects = chosen();
const date = new Date().toISOString();
const reports: Report[] = [];
const crowd = values.quick ? SMALL_CROWD : CROWD;
const tell = (line: string): void => console.error(line);
for (const subject of subjects) {
  const report = values.scale
    ? await measureScale(subject, crowd, tell)
    : await measure(subject, size, tell);
  reports.push(report);
}
console.log(tableOf(reports));

const what = values.scale ? `scale-${crowd.jobs}-jobs` : `${size.pods}-pods`;
const name = `${date.slice(0, 10)}-${what}.json`;
const out = values.out ?? join(REPOSITORY, 'docs', 'bench', name);
const machine = {
  processors: cpus().length,
  model: cpus()[0]?.model,
  memoryBytes: totalmem(),
  kernel: release(),
};
mkdirSync(dirname(out), { recursive: true });
const measuredSize = values.scale ? { crowd } : { size };
const kept = { date, commit: await commit(), bun: Bun.version, machine, ...measuredSize, reports };
writeFileSync(out, `${JSON.stringify(kept, null, 2)}\n`);
console.log(`kept in ${out}`);
