/** What befalls a Holdfast in a crash campaign: death of every kind, a frozen process, servers that restart. */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../../src/runtime/random.ts';
import type { Cluster } from '../rig/index.ts';
import { Deck } from './deck.ts';
import { drawMoment, type Line } from './killer.ts';

/** How often each befalls, in parts. */
const WEIGHTS = { kill: 12, freeze: 2, outOfMemory: 3, apiServer: 2, etcd: 1 } as const;
export type Accident = keyof typeof WEIGHTS;

/** Longer than the Lease of the campaign's flags. */
const FROZEN_MS_MIN = 7_000;
const FROZEN_MS_MAX = 12_000;
const STARVED_BYTES = 8 * 1024 * 1024;
const STARVED_MS_MAX = 10_000;

/** Where memory can be limited: the second or the first kind of control groups. */
interface MemoryGroups {
  readonly root: string;
  readonly limit: string;
}

/** Undefined where control groups can't be made. */
export function memoryGroups(): MemoryGroups | undefined {
  const kinds = [
    { root: '/sys/fs/cgroup', limit: 'memory.max' },
    { root: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes' },
  ];
  for (const { root, limit } of kinds) {
    const probe = join(root, `holdfast-probe-${process.pid}`);
    try {
      mkdirSync(probe);
      const usable = existsSync(join(probe, limit));
      rmdirSync(probe);
      if (usable) return { root, limit };
    } catch {
      // Not here, or not for us.
    }
  }
  return undefined;
}

/** All of them by lot, in every twenty; `groups` undefined: nothing runs out of memory. */
export function accidents(random: Random, groups: MemoryGroups | undefined): Deck<Accident> {
  return new Deck(random, groups === undefined ? { ...WEIGHTS, outOfMemory: 0 } : WEIGHTS);
}

/** Lets it happen. True: the process is dead and the next must be started. */
export async function befall(
  accident: Accident,
  { cluster, line, random }: { cluster: Cluster; line: Line; random: Random },
  groups: MemoryGroups | undefined,
): Promise<boolean> {
  switch (accident) {
    case 'freeze': {
      const frozenMs = FROZEN_MS_MIN + random.next() * (FROZEN_MS_MAX - FROZEN_MS_MIN);
      await line.freeze(frozenMs);
      return false;
    }
    case 'outOfMemory':
      return groups !== undefined && (await starve(line, groups));
    case 'apiServer':
      await cluster.restartApiServer();
      return false;
    case 'etcd':
      await cluster.restartEtcd();
      await cluster.restartApiServer();
      return false;
    default:
      await line.kill(drawMoment(random));
      return true;
  }
}

/** Takes the memory away until the kernel kills the process. False if it lived on. */
async function starve(line: Line, { root, limit }: MemoryGroups): Promise<boolean> {
  const group = join(root, `holdfast-crash-${line.current.pid}`);
  mkdirSync(group);
  try {
    writeFileSync(join(group, 'cgroup.procs'), String(line.current.pid));
    // What is in use already is charged elsewhere with the first kind: what comes is too much.
    writeFileSync(join(group, limit), String(STARVED_BYTES));
    const died = await line.diesWithin(STARVED_MS_MAX);
    if (!died) writeFileSync(join(group, limit), limit === 'memory.max' ? 'max' : '-1');
    if (!died) writeFileSync(join(root, 'cgroup.procs'), String(line.current.pid));
    return died;
  } finally {
    await Bun.sleep(100);
    rmdirSync(group);
  }
}
