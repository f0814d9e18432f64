/**
 * `make soak MINUTES=60`: Holdfast under steady churn on a real cluster. Samples its memory, file
 * descriptors, state file, WAL and what it writes to disk; prints them as a table, and fails when
 * over the second half one of them grows by more than noise, or the files pass their bounds.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Mix } from '../test/crash/mix.ts';
import {
  type Cluster,
  type HoldfastManager,
  simulateNodes,
  startCluster,
} from '../test/rig/index.ts';
import { Ledger } from '../test/scenarios/ledger.ts';
import { World } from '../test/scenarios/world.ts';
import { growth } from './growth.ts';

const NODES = 20;
const SAMPLE_EVERY_MS = 10_000;

/**
 * By how much each may grow over the second half, as a share of its mean. Twelve minutes on a busy
 * machine gave for stretches of 2.5 to 7 minutes: memory between -1 and +11 % (collections make a saw
 * of 144 to 207 MiB of it), descriptors within 1 %, writing within 18 %.
 */
const GROWTH: Partial<Record<Measure, number>> = {
  rssMiB: 0.2,
  descriptors: 0.1,
  writtenMiBPerMinute: 0.5,
};
/**
 * What the others may never pass. The file grows by a quarter of a MiB a minute until its journal
 * has its 10,000 rows or 16 MiB; the WAL goes up to 16 MiB again and again.
 */
const CEILING: Partial<Record<Measure, number>> = { fileMiB: 32, walMiB: 32 };
const MEASURES = ['rssMiB', 'descriptors', 'fileMiB', 'walMiB', 'writtenMiBPerMinute'] as const;
type Measure = (typeof MEASURES)[number];
type Sample = Record<Measure, number> & { readonly atMs: number };

const minutes = Number(process.env.MINUTES || 60);
if (!(minutes > 0))
  throw new Error(`MINUTES=${process.env.MINUTES} is no time: want e.g. MINUTES=60`);

function sizeOf(path: string): number {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) / 2 ** 20;
}

function fieldOf(path: string, name: string): number {
  const found = new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(path, 'utf8'));
  return Number(found?.[1] ?? 0);
}

class Meter {
  readonly #manager: HoldfastManager;
  readonly #since = performance.now();
  #written = 0;
  #writtenAt = 0;
  readonly samples: Sample[] = [];

  constructor(manager: HoldfastManager) {
    this.#manager = manager;
  }

  look(): Sample {
    const { pid, stateDir } = this.#manager;
    const atMs = performance.now() - this.#since;
    const written = fieldOf(`/proc/${pid}/io`, 'write_bytes') / 2 ** 20;
    const passed = (atMs - this.#writtenAt) / 60_000;
    const sample = {
      atMs,
      rssMiB: fieldOf(`/proc/${pid}/status`, 'VmRSS') / 1024,
      descriptors: readdirSync(`/proc/${pid}/fd`).length,
      fileMiB: sizeOf(join(stateDir, 'state.db')),
      walMiB: sizeOf(join(stateDir, 'state.db-wal')),
      writtenMiBPerMinute: passed > 0 ? (written - this.#written) / passed : 0,
    };
    this.#written = written;
    this.#writtenAt = atMs;
    this.samples.push(sample);
    return sample;
  }
}

function row(sample: Sample): string {
  const cells = MEASURES.map((name) => sample[name].toFixed(1).padStart(12));
  return `${(sample.atMs / 60_000).toFixed(1).padStart(8)}${cells.join('')}`;
}

/** Says how one of them went, and gives what is wrong with that. */
function judged(name: Measure, samples: readonly Sample[]): string[] {
  const half = samples.slice(Math.ceil(samples.length / 2));
  const grown = growth(half.map((one) => [one.atMs, one[name]] as const));
  const most = Math.max(...samples.map((one) => one[name]));
  console.log(
    `${name}: ${(grown * 100).toFixed(1)} % over the second half, at most ${most.toFixed(1)}`,
  );
  return [
    ...(grown > (GROWTH[name] ?? Number.POSITIVE_INFINITY) ? [`${name} grows`] : []),
    ...(most > (CEILING[name] ?? Number.POSITIVE_INFINITY) ? [`${name} is above its bound`] : []),
  ];
}

async function churn(cluster: Cluster, until: number): Promise<string[]> {
  const world = new World(cluster, await cluster.namespace('soak'));
  const ledger = new Ledger(cluster.api, world.namespace);
  const mix = new Mix(world, ledger, NODES);
  try {
    await mix.launch();
    while (performance.now() < until) {
      await mix.begin();
      await mix.settled();
      const complaints = await mix.complaints();
      if (complaints.length > 0) return complaints;
      await mix.cleanUp();
    }
    return [];
  } finally {
    ledger.stop();
  }
}

async function main(): Promise<number> {
  const cluster = await startCluster({ audit: false });
  try {
    await simulateNodes(cluster, { count: NODES, clearTaint: true, bind: true });
    const manager = await cluster.startHoldfast({ flags: ['--controllers=*'], compiled: true });
    await manager.waitServing();
    const meter = new Meter(manager);
    console.log(
      `${'minute'.padStart(8)}${MEASURES.map((name) => name.slice(0, 11).padStart(12)).join('')}`,
    );
    const timer = setInterval(() => console.log(row(meter.look())), SAMPLE_EVERY_MS);
    const complaints = await churn(cluster, performance.now() + minutes * 60_000);
    clearInterval(timer);
    complaints.push(...MEASURES.flatMap((name) => judged(name, meter.samples)));
    console.log(complaints.length === 0 ? 'all flat' : complaints.join('\n'));
    return complaints.length === 0 ? 0 : 1;
  } finally {
    await cluster.stop();
  }
}

process.exit(await main());
