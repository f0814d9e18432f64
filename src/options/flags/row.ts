/** A flag is one row; here are its type and the checks that rows share. */
import type { FlagValue, KindName } from '../kinds.ts';

/** Complains about a value that can be read but makes no sense; undefined: fine. */
export type FlagCheck = (name: string, value: FlagValue) => string | undefined;

/** One flag. */
export interface FlagRow {
  /** With dashes; on the command line underscores do as well. */
  readonly name: string;
  readonly shorthand?: string;
  readonly kind: KindName;
  /** As it would be written on the command line; absent: the kind's zero. */
  readonly default?: string;
  /** What a bare number counts. */
  readonly unit?: string;
  /** Shown by --help; every line break starts a new line there. */
  readonly help: string;
  /** What to say when it is used; such flags are left out of --help. */
  readonly deprecated?: string;
  readonly check?: FlagCheck;
}

/** Flags that --help shows together. */
export interface FlagSection {
  /** Shown with a capital first letter and " flags:". */
  readonly name: string;
  readonly rows: readonly FlagRow[];
}

/** At least 1, in the words that most of upstream's worker counts use. */
export const positive: FlagCheck = (name, value) =>
  Number(value) < 1 ? `${name} must be greater than 0, but got ${value}` : undefined;

/** A check for whole numbers from `min` to `max`. */
export function between(min: number, max: number): FlagCheck {
  return (name, value) => {
    if (Number(value) < min) return `${name} must not be less than ${min}, but got ${value}`;
    if (Number(value) > max) return `${name} must not be more than ${max}, but got ${value}`;
    return undefined;
  };
}

/** A duration that must not be negative. */
export const notNegative: FlagCheck = (name, value) =>
  typeof value === 'bigint' && value < 0n
    ? `--${name} must not be negative; 0 turns it off`
    : undefined;

/** A path that must start with "/". */
export const absolutePath: FlagCheck = (name, value) =>
  String(value).startsWith('/')
    ? undefined
    : `--${name} must be an absolute path, but got ${JSON.stringify(value)}`;
