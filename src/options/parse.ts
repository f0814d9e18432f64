/** Reads a command line as pflag does: long and short flags, values, repeated lists, its errors. */

import type { FlagRow } from './flags/row.ts';
import { defaultOf, FLAGS, kindOf } from './flags.ts';
import { ValueError } from './go/number.ts';
import { quote, quoteRune } from './go/quote.ts';
import type { FlagValue } from './kinds.ts';

/** A command line that can't be read. */
export class SyntaxFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SyntaxFault';
  }
}

/** What a command line says. */
export interface ParsedLine {
  readonly values: ReadonlyMap<string, FlagValue>;
  /** What is not a flag. */
  readonly positional: readonly string[];
  /** Lines about deprecated flags, for stderr. */
  readonly notices: readonly string[];
}

const SHORTHANDS: ReadonlyMap<string, FlagRow> = new Map(
  [...FLAGS.values()].flatMap((row) => (row.shorthand === undefined ? [] : [[row.shorthand, row]])),
);

/** A flag name with dashes: `_` and `-` are the same. */
export function normalName(name: string): string {
  return name.replaceAll('_', '-');
}

function flagText({ name, shorthand }: FlagRow): string {
  return shorthand === undefined ? `--${name}` : `-${shorthand}, --${name}`;
}

/** The flag's value out of a text. Throws ValueError with pflag's words. */
export function parseValue(row: FlagRow, text: string, before: FlagValue | undefined): FlagValue {
  // pflag leaves an address as it is when it is given an empty text.
  if (row.kind === 'ip' && text === '') return before ?? defaultOf(row);
  try {
    return kindOf(row).parse(text, before);
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    const flag = quote(flagText(row));
    throw new ValueError(`invalid argument ${quote(text)} for ${flag} flag: ${error.message}`);
  }
}

class LineReader {
  readonly values = new Map<string, FlagValue>();
  readonly positional: string[] = [];
  readonly notices: string[] = [];
  private readonly rest: string[];

  constructor(argv: readonly string[]) {
    this.rest = [...argv];
  }

  read(): ParsedLine {
    for (let word = this.rest.shift(); word !== undefined; word = this.rest.shift()) {
      if (word === '--') {
        this.positional.push(...this.rest.splice(0));
      } else if (word.startsWith('--')) {
        this.long(word);
      } else if (word.startsWith('-') && word.length > 1) {
        this.short(word.slice(1));
      } else {
        this.positional.push(word);
      }
    }
    return { values: this.values, positional: this.positional, notices: this.notices };
  }

  private long(word: string): void {
    const [, name = '', value] = /^--([^=]*)(?:=([\s\S]*))?$/.exec(word) ?? [];
    if (name === '' || name.startsWith('-')) throw new SyntaxFault(`bad flag syntax: ${word}`);
    const row = FLAGS.get(normalName(name));
    if (row === undefined) throw new SyntaxFault(`unknown flag: --${name}`);
    this.set(row, value ?? kindOf(row).bare ?? this.next(`--${name}`));
  }

  /** A word of one-letter flags: "-v4", "-v=4", "-hv 4". */
  private short(word: string): void {
    let letters = word;
    while (letters !== '') {
      const letter = String.fromCodePoint(letters.codePointAt(0) ?? 0);
      const row = SHORTHANDS.get(letter);
      if (row === undefined) {
        throw new SyntaxFault(`unknown shorthand flag: ${quoteRune(letter)} in -${letters}`);
      }
      const after = letters.slice(letter.length);
      const bare = kindOf(row).bare;
      if (after.length > 1 && after.startsWith('=')) {
        this.set(row, after.slice(1));
        return;
      }
      if (bare === undefined) {
        this.set(row, after || this.next(`${quoteRune(letter)} in -${letters}`));
        return;
      }
      this.set(row, bare);
      letters = after;
    }
  }

  private next(flag: string): string {
    const value = this.rest.shift();
    if (value === undefined) throw new SyntaxFault(`flag needs an argument: ${flag}`);
    return value;
  }

  private set(row: FlagRow, text: string): void {
    try {
      this.values.set(row.name, parseValue(row, text, this.values.get(row.name)));
    } catch (error) {
      throw error instanceof ValueError ? new SyntaxFault(error.message) : error;
    }
    if (row.deprecated !== undefined) {
      this.notices.push(`Flag --${row.name} has been deprecated, ${row.deprecated}`);
    }
  }
}

/** Reads a command line without the program's name. Throws SyntaxFault with pflag's words. */
export function parseLine(argv: readonly string[]): ParsedLine {
  return new LineReader(argv).read();
}
