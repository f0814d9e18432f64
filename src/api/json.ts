/** JSON that keeps 64-bit integers: values beyond 2^53 travel as BigInt and come back as they were. */

const LONG_DIGITS = /\d{16}/;
const INTEGER = /^-?\d+$/;

interface SourceContext {
  readonly source?: string;
}

type SourceReviver = (
  this: unknown,
  key: string,
  value: unknown,
  context: SourceContext,
) => unknown;
const parseWithSource = JSON.parse as (text: string, reviver?: SourceReviver) => unknown;
const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON;

function keepLongIntegers(_key: string, value: unknown, context: SourceContext): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context.source;
  return source !== undefined && INTEGER.test(source) ? BigInt(source) : value;
}

/** Parses JSON text; integers that a number can't hold become BigInt. Throws SyntaxError. */
export function parseJson<T>(text: string): T {
  if (!LONG_DIGITS.test(text)) return JSON.parse(text) as T;
  return parseWithSource(text, keepLongIntegers) as T;
}

function writeLongIntegers(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? rawJson(value.toString()) : value;
}

const TEXT = Symbol('JSON text');

/**
 * A copy that `stringifyJson` writes as exactly this text (of the same meaning), for the API keeps
 * the raw bytes of objects embedded in a body. Copies of the copy are plain again.
 */
export function withJsonText<T extends object>(value: T, text: string): T {
  return Object.defineProperty({ ...value }, TEXT, { value: text });
}

/** JSON text of a plain value, on lines of their own with `indent`; BigInts digit by digit. */
export function stringifyJson(value: unknown, indent?: number): string {
  const fixed = (value as { readonly [TEXT]?: string } | null | undefined)?.[TEXT];
  if (fixed !== undefined) return fixed;
  try {
    // A replacer is called for every field: several times slower than going without.
    return JSON.stringify(value, undefined, indent);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(value, writeLongIntegers, indent);
  }
}
