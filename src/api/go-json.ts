/** JSON text as Go's encoding/json writes a map: byte for byte what upstream stores and hashes. */

/** How numbers are written that a float64 can't hold exactly. */
export interface GoJsonOptions {
  /**
   * True: as Go does once they went through an untyped map, rounded to the nearest float64.
   * Otherwise integers keep every digit.
   */
  readonly float64?: boolean;
}

const ESCAPED = /[<>&\u2028\u2029]/g;
const SURROGATES_FROM = 0xd800;
const ABOVE_SURROGATES_FROM = 0xe000;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function goString(text: string): string {
  return JSON.stringify(text.toWellFormed()).replace(ESCAPED, escaped);
}

/** Surrogates stand for the highest characters: moved above the rest of the code units. */
function rank(codeUnit: number): number {
  if (codeUnit >= ABOVE_SURROGATES_FROM) return codeUnit - 0x800;
  return codeUnit >= SURROGATES_FROM ? codeUnit + 0x2000 : codeUnit;
}

/** Order of two texts by their UTF-8 bytes, which JavaScript's own order is not. */
export function compareBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const difference = rank(a.charCodeAt(at)) - rank(b.charCodeAt(at));
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

function goObject(value: object, options: GoJsonOptions): string {
  const members: string[] = [];
  for (const key of Object.keys(value).sort(compareBytes)) {
    const inner = (value as Readonly<Record<string, unknown>>)[key];
    if (inner !== undefined) members.push(`${goString(key)}:${goJson(inner, options)}`);
  }
  return `{${members.join(',')}}`;
}

/**
 * The text of a plain value: keys sorted by their bytes, no blanks, `<`, `>`, `&` and the two line
 * separators escaped, broken surrogates replaced. Undefined members are left out.
 */
export function goJson(value: unknown, options: GoJsonOptions = {}): string {
  if (typeof value === 'string') return goString(value);
  if (typeof value === 'bigint') return String(options.float64 ? Number(value) : value);
  if (Array.isArray(value)) return `[${value.map((item) => goJson(item, options)).join(',')}]`;
  if (typeof value === 'object' && value !== null) return goObject(value, options);
  return JSON.stringify(value);
}
