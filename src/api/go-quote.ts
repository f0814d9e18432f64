/** Go's %q: texts in double quotes, as upstream's messages show what was found. */

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
const DELETE = 0x7f;
const PLANE_END = 0xffff;

function quoteCharacter(character: string): string {
  const escaped = ESCAPES[character];
  if (escaped !== undefined) return escaped;
  if (PRINTABLE.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  const digits = code.toString(16);
  if (code < ' '.charCodeAt(0) || code === DELETE) return `\\x${digits.padStart(2, '0')}`;
  return code <= PLANE_END ? `\\u${digits.padStart(4, '0')}` : `\\U${digits.padStart(8, '0')}`;
}

/** The text in double quotes with Go's escapes. */
export function quote(text: string): string {
  return `"${[...text].map(quoteCharacter).join('')}"`;
}

/** A list of texts as Go's %q shows it: `["a" "b"]`. */
export function quoteList(texts: readonly string[]): string {
  return `[${texts.map(quote).join(' ')}]`;
}

/** One character as Go's %q shows a rune: `'x'`. */
export function quoteRune(character: string): string {
  if (character === "'") return "'\\''";
  return character === '"' ? `'"'` : `'${quoteCharacter(character)}'`;
}
