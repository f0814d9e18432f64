/** Reads fields out of parsed YAML that a user wrote, and says exactly what is wrong with them. */
import { type ConfigError, wrong } from './config-error.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** A mapping of the user's file together with the path to it, e.g. `users["admin"].user`. */
export class Section {
  readonly file: string;
  readonly path: string;
  readonly #fields: Fields;

  constructor(file: string, path: string, fields: Fields) {
    this.file = file;
    this.path = path;
    this.#fields = fields;
  }

  /** An error about one field of this section ("" is the section itself). */
  wrong(field: string, found: string, valid: string, cause?: unknown): ConfigError {
    return wrong(this.file, this.#at(field), found, valid, cause);
  }

  has(field: string): boolean {
    return this.#value(field) !== undefined;
  }

  /** A text, or undefined if absent or empty. */
  text(field: string): string | undefined {
    const value = this.#value(field);
    if (value === undefined || value === '') return undefined;
    if (typeof value === 'string') return value;
    throw this.wrong(field, `is ${kindOf(value)}`, 'valid: a text (put it in quotes)');
  }

  flag(field: string): boolean {
    const value = this.#value(field);
    if (value === undefined) return false;
    if (typeof value === 'boolean') return value;
    throw this.wrong(field, `is ${kindOf(value)}`, 'valid: true or false');
  }

  texts(field: string): readonly string[] {
    return this.#list(field).map((value, index) => {
      if (typeof value === 'string') return value;
      throw this.wrong(`${field}[${index}]`, `is ${kindOf(value)}`, 'valid: a text');
    });
  }

  /** The mapping below a field, or undefined if absent. */
  section(field: string): Section | undefined {
    const value = this.#value(field);
    if (value === undefined) return undefined;
    if (isFields(value)) return new Section(this.file, this.#at(field), value);
    throw this.wrong(field, `is ${kindOf(value)}`, 'valid: a mapping');
  }

  /** The mappings of a list. */
  sections(field: string): readonly Section[] {
    return this.#list(field).map((value, index) => {
      if (isFields(value)) return new Section(this.file, this.#at(`${field}[${index}]`), value);
      throw this.wrong(`${field}[${index}]`, `is ${kindOf(value)}`, 'valid: a mapping');
    });
  }

  /** Names of all its fields. */
  names(): readonly string[] {
    return Object.keys(this.#fields);
  }

  /** Whatever stands there, unchecked. */
  raw(field: string): unknown {
    return this.#value(field);
  }

  /** The same section under a path that people recognize better. */
  as(path: string): Section {
    return new Section(this.file, path, this.#fields);
  }

  #list(field: string): readonly unknown[] {
    const value = this.#value(field);
    if (value === undefined) return [];
    if (Array.isArray(value)) return value;
    throw this.wrong(field, `is ${kindOf(value)}`, 'valid: a list');
  }

  #value(field: string): unknown {
    return this.#fields[field] ?? undefined;
  }

  #at(field: string): string {
    return this.path === '' || field === '' ? `${this.path}${field}` : `${this.path}.${field}`;
  }
}

/** True for a mapping: no list, no null. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a value is, for messages. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  if (typeof value === 'string') return `the text ${JSON.stringify(value.slice(0, 40))}`;
  return `the ${typeof value} ${String(value)}`;
}
