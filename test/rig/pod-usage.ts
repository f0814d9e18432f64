/** What simulated containers use, from annotations, and counters of it as a kubelet keeps them. */
import type { Obj } from './api.ts';

/** What each container of a pod uses at present. */
export interface PodUsage {
  /** Thousandths of a core, fractions allowed. */
  readonly cpuMilli: number;
  readonly memoryBytes: number;
}

/** Readings of one container. */
export interface Reading {
  /** Since the container's start. */
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
}

const CPU_NOTE = 'sim.holdfast.dev/cpu';
const MEMORY_NOTE = 'sim.holdfast.dev/memory';
/** What pods use that don't say: a counter that stays 0 counts as missing with metrics servers. */
const DEFAULT_CPU = '1m';
const DEFAULT_MEMORY = '1Mi';
const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
};
const MICRO = 1_000_000;

/** A quantity such as 250m, 1.5 or 64Mi as a number; throws on others. */
export function amount(text: string): number {
  const [, digits, unit = ''] = /^(\d+(?:\.\d+)?)(m|k|M|G|Ki|Mi|Gi)?$/.exec(text) ?? [];
  if (digits === undefined) throw new Error(`"${text}" is no quantity: want e.g. 250m, 2 or 64Mi`);
  return Number(digits) * (UNITS[unit] ?? 1);
}

/** What a pod's annotations say each of its containers uses. */
export function usageOf(pod: Obj): PodUsage {
  const notes = pod.metadata.annotations ?? {};
  return {
    cpuMilli: Math.round(amount(notes[CPU_NOTE] ?? DEFAULT_CPU) * 1e6) / 1e3,
    memoryBytes: Math.round(amount(notes[MEMORY_NOTE] ?? DEFAULT_MEMORY)),
  };
}

/** The counters of a container, exact to the microsecond of a core. All times in milliseconds. */
export class Meter {
  #usage: PodUsage;
  #since: number;
  /** Thousandths of a core times milliseconds. */
  #used = 0;

  /** The container has used that much ever since its start. */
  constructor(
    readonly startedAt: number,
    usage: PodUsage,
  ) {
    this.#since = startedAt;
    this.#usage = usage;
  }

  /** From now on the container uses that much. */
  change(usage: PodUsage, now: number): void {
    this.#used = this.#usedUntil(now);
    this.#since = Math.max(now, this.#since);
    this.#usage = usage;
  }

  /** What a kubelet reads at that time. */
  read(now: number): Reading {
    const { memoryBytes } = this.#usage;
    return { cpuSeconds: this.#usedUntil(now) / MICRO, memoryBytes };
  }

  #usedUntil(now: number): number {
    return this.#used + this.#usage.cpuMilli * Math.max(0, now - this.#since);
  }
}
