/** Chance in the forms the model needs, all from one seed. */
import { type Random, seededRandom } from '../../src/runtime/random.ts';

/** Draws of one part of the model; parts don't disturb each other's draws. */
export class Dice {
  readonly random: Random;

  constructor(seed: number, part: string) {
    let mixed = seed >>> 0;
    for (const char of part) mixed = (Math.imul(mixed ^ char.charCodeAt(0), 16_777_619) + 1) >>> 0;
    this.random = seededRandom(mixed);
  }

  chance(probability: number): boolean {
    return this.random.next() < probability;
  }

  /** Uniform in [from, to). */
  between(from: number, to: number): number {
    return from + this.random.next() * (to - from);
  }

  /** A whole number in [from, to]. */
  whole(from: number, to: number): number {
    return Math.floor(this.between(from, to + 1));
  }

  pick<T>(all: readonly T[]): T {
    return all[Math.floor(this.random.next() * all.length)] as T;
  }

  /** Many short times and few long ones, milliseconds. */
  longTail(typicalMs: number, maxMs: number): number {
    return Math.min(maxMs, (typicalMs * this.random.next()) / (this.random.next() + 0.001));
  }

  /** One of the names, each as often as its weight says. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries(weights) as [K, number][];
    let left = this.random.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      left -= weight;
      if (left < 0) return name;
    }
    return entries[0]![0];
  }
}
