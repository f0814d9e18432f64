/** Reads the words after a subcommand: options by its rows, everything else as operands. */
import { type OptionRow, UsageFault } from './ports.ts';

/** The words of one subcommand. */
export interface Words {
  readonly operands: readonly string[];
  /** Value of an option, undefined if it wasn't given. */
  value(name: string): string | undefined;
  /** True if the switch was given. */
  has(name: string): boolean;
}

function shown({ name, short, value }: OptionRow): string {
  const long = value === undefined ? `--${name}` : `--${name} ${value}`;
  return short === undefined ? long : `-${short}, ${long}`;
}

function find(rows: readonly OptionRow[], word: string): OptionRow {
  const row = rows.find(({ name, short }) =>
    word.startsWith('--') ? word === `--${name}` : word === `-${short}`,
  );
  if (row !== undefined) return row;
  const valid = rows.map(shown).join('; ');
  throw new UsageFault(`there is no option ${word} here; valid are: ${valid || 'none'}`);
}

function splitWord(word: string): { name: string; value: string | undefined } {
  if (word.startsWith('--')) {
    const at = word.indexOf('=');
    if (at < 0) return { name: word, value: undefined };
    return { name: word.slice(0, at), value: word.slice(at + 1) };
  }
  const rest = word.slice(2);
  return { name: word.slice(0, 2), value: rest === '' ? undefined : rest.replace(/^=/, '') };
}

/** Throws UsageFault for an unknown option, a missing value, or one that isn't among the choices. */
export function readWords(argv: readonly string[], rows: readonly OptionRow[]): Words {
  const operands: string[] = [];
  const values = new Map<string, string>();
  const rest = [...argv];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '--') {
      operands.push(...rest.splice(0));
      continue;
    }
    if (!word.startsWith('-') || word === '-') {
      operands.push(word);
      continue;
    }
    const { name, value } = splitWord(word);
    const row = find(rows, name);
    if (row.value === undefined && value !== undefined) {
      throw new UsageFault(`${name} takes no value, but got ${JSON.stringify(value)}`);
    }
    values.set(row.name, row.value === undefined ? '' : takeValue(row, name, value, rest));
  }
  return {
    operands,
    value: (name) => values.get(name),
    has: (name) => values.has(name),
  };
}

function takeValue(
  row: OptionRow,
  name: string,
  inline: string | undefined,
  rest: string[],
): string {
  const value = inline ?? rest.shift();
  if (value === undefined) throw new UsageFault(`${name} needs a value: ${shown(row)}`);
  if (row.choices !== undefined && !row.choices.includes(value)) {
    const valid = row.choices.join(', ');
    throw new UsageFault(`${name} is ${JSON.stringify(value)}; valid are: ${valid}`);
  }
  return value;
}

/** A whole number of an option. Throws UsageFault. */
export function wholeNumber(words: Words, name: string): number | undefined {
  const text = words.value(name);
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageFault(`--${name} is ${JSON.stringify(text)}; valid is a whole number from 0`);
}

/** The operands, which must be at most `most`. Throws UsageFault. */
export function operandsUpTo(words: Words, most: number, usage: string): readonly string[] {
  if (words.operands.length <= most) return words.operands;
  const extra = words.operands.slice(most).join(' ');
  throw new UsageFault(`too many words: ${JSON.stringify(extra)}; usage: ${usage}`);
}
