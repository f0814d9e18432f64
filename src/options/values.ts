/** Flag values of one process, by name, and where each came from. */
import { defaultOf, FLAGS, kindOf } from './flags.ts';
import { durationMs } from './go/duration.ts';
import type { FlagValue, ModuleLevel, NamedCertificate, PrefixedText } from './kinds.ts';
import { KINDS } from './kinds.ts';

/** Who set a flag. */
export type FlagSource = 'default' | 'file' | 'flag';

/** A flag's value as text, for people. */
export interface EffectiveFlag {
  readonly name: string;
  readonly value: string;
  readonly from: FlagSource;
  readonly unit?: string;
}

/** Values that were set, by flag name. */
export type SetValues = ReadonlyMap<string, FlagValue>;

/** All flags' values: the command line beats the file, the file beats defaults. */
export class FlagValues {
  constructor(
    private readonly fromFlags: SetValues,
    private readonly fromFile: SetValues = new Map(),
  ) {}

  /** Who set the flag. */
  source(name: string): FlagSource {
    if (this.fromFlags.has(name)) return 'flag';
    return this.fromFile.has(name) ? 'file' : 'default';
  }

  /** The value, whatever its kind. Throws for a name that is no flag: our own mistake. */
  raw(name: string): FlagValue {
    const row = FLAGS.get(name);
    if (row === undefined) throw new Error(`no such flag: ${name}`);
    return this.fromFlags.get(name) ?? this.fromFile.get(name) ?? defaultOf(row);
  }

  bool(name: string): boolean {
    return this.raw(name) === true;
  }

  number(name: string): number {
    return Number(this.raw(name));
  }

  text(name: string): string {
    return String(this.raw(name));
  }

  /** A duration in milliseconds. */
  ms(name: string): number {
    return durationMs(this.duration(name));
  }

  /** A duration in nanoseconds. */
  duration(name: string): bigint {
    return BigInt(String(this.raw(name)));
  }

  list(name: string): readonly string[] {
    return this.raw(name) as readonly string[];
  }

  numbers(name: string): readonly number[] {
    return this.raw(name) as readonly number[];
  }

  map(name: string): ReadonlyMap<string, string> {
    return this.raw(name) as ReadonlyMap<string, string>;
  }

  certificates(name: string): readonly NamedCertificate[] {
    return this.raw(name) as readonly NamedCertificate[];
  }

  moduleLevels(name: string): readonly ModuleLevel[] {
    return this.raw(name) as readonly ModuleLevel[];
  }

  prefixed(name: string): readonly PrefixedText[] {
    return this.raw(name) as readonly PrefixedText[];
  }

  /** The value as /flagz and the log show it. */
  print(name: string): string {
    const row = FLAGS.get(name);
    return row === undefined ? '' : kindOf(row).print(this.raw(name));
  }

  /** Every flag, sorted by name. */
  effective(): EffectiveFlag[] {
    return [...FLAGS.values()].map(({ name, unit }) => {
      const shown = { name, value: this.print(name), from: this.source(name) };
      return unit === undefined ? shown : { ...shown, unit };
    });
  }

  /** Flags that hold one plain value, as controllers get them: durations in milliseconds. */
  scalars(): Readonly<Record<string, string | number | boolean>> {
    const scalars: Record<string, string | number | boolean> = {};
    for (const name of FLAGS.keys()) {
      const value = this.raw(name);
      if (typeof value === 'bigint') scalars[name] = durationMs(value);
      else if (typeof value !== 'object') scalars[name] = value;
    }
    return Object.freeze(scalars);
  }
}

/** A duration as Go writes it: "1m0s". */
export function printDuration(nanoseconds: bigint): string {
  return KINDS.duration.print(nanoseconds);
}
