/**
 * `make bench`: measures reference and Holdfast, prints one table, and keeps the figures and a
 * picture of them in docs/bench/. Options: --quick (100 pods), --pods N, --nodes N, --idle SECONDS,
 * --scale (many things at once instead; with --quick a tenth of them), --subject
 * reference|holdfast (only one), --out FILE, --draw FILE (only table and picture of a kept run).
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  CROWD,
  type Crowd,
  FULL,
  measure,
  measureScale,
  pictureOf,
  QUICK,
  type Report,
  type Size,
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
    nodes: { type: 'string' },
    idle: { type: 'string' },
    subject: { type: 'string' },
    out: { type: 'string' },
    draw: { type: 'string' },
  },
});

const SUBJECTS: readonly Subject[] = ['reference', 'holdfast'];

function chosen(): readonly Subject[] {
  if (values.subject === undefined) return SUBJECTS;
  const found = SUBJECTS.filter((subject) => subject === values.subject);
  if (found.length > 0) return found;
  throw new Error(`--subject=${values.subject}: want one of ${SUBJECTS.join(', ')}`);
}

function countOf(option: 'pods' | 'nodes' | 'idle', otherwise: number): number {
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

interface Kept {
  readonly date: string;
  readonly commit: string;
  readonly size?: Size;
  readonly crowd?: Crowd;
  readonly reports: readonly Report[];
  readonly [more: string]: unknown;
}

function titleOf({ date, commit: at, size, crowd }: Kept): string {
  const what = crowd ? 'Many things at once' : `${size?.pods} pods on ${size?.nodes} nodes`;
  return `${what}, ${date.slice(0, 10)} (${at})`;
}

/** Prints the table; writes the picture beside the figures. */
function show(kept: Kept, file: string): void {
  console.log(tableOf(kept.reports));
  const picture = file.replace(/\.json$/, '.svg');
  writeFileSync(picture, pictureOf(titleOf(kept), kept.reports));
  console.log(`drawn in ${picture}`);
}

async function run(): Promise<void> {
  const base = values.quick ? QUICK : FULL;
  const size = {
    ...base,
    pods: countOf('pods', base.pods),
    nodes: countOf('nodes', base.nodes),
    idleMs: 1_000 * countOf('idle', base.idleMs / 1_000),
  };
  const crowd = values.quick ? SMALL_CROWD : CROWD;
  const date = new Date().toISOString();
  const nodes = size.nodes === base.nodes ? '' : `-${size.nodes}-nodes`;
  const what = values.scale ? `scale-${crowd.jobs}-jobs` : `${size.pods}-pods${nodes}`;
  const file = values.out ?? join(REPOSITORY, 'docs', 'bench', `${date.slice(0, 10)}-${what}.json`);
  const machine = {
    processors: cpus().length,
    model: cpus()[0]?.model,
    memoryBytes: totalmem(),
    kernel: release(),
  };
  const measured = values.scale ? { crowd } : { size };
  const about = { date, commit: await commit(), bun: Bun.version, machine, ...measured };
  mkdirSync(dirname(file), { recursive: true });
  const reports: Report[] = [];
  const tell = (line: string): void => console.error(line);
  for (const subject of chosen()) {
    reports.push(
      values.scale ? await measureScale(subject, crowd, tell) : await measure(subject, size, tell),
    );
    writeFileSync(file, `${JSON.stringify({ ...about, reports }, null, 2)}\n`);
  }
  show({ ...about, reports }, file);
  console.log(`kept in ${file}`);
}

if (values.draw === undefined) await run();
else show(JSON.parse(readFileSync(values.draw, 'utf8')) as Kept, values.draw);
