/** How klog writes a line: header, quoting and key=value pairs. Pure text. */
import { stringifyJson } from '../api/json.ts';

export type Severity = 'I' | 'W' | 'E';
export type Pair = readonly [key: string, value: unknown];

const PLAIN = /^[ !#-[\]-~]*$/;
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
const ESCAPES: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\u000b': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

function escapeGo(char: string): string {
  const known = ESCAPES[char];
  if (known !== undefined) return known;
  const code = char.codePointAt(0) ?? 0;
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd';
  if (PRINTABLE.test(char)) return char;
  const hex = code.toString(16);
  if (code < 0x80) return `\\x${hex.padStart(2, '0')}`;
  return code > 0xffff ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`;
}

/** A text in double quotes as Go's strconv.Quote writes it: printable Unicode stays. */
export function quoteGo(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  return `"${Array.from(text, escapeGo).join('')}"`;
}

/** An error's message (with the messages of its causes), or any other value as text. */
export function plainText(value: unknown): string {
  if (!(value instanceof Error)) return String(value);
  const { cause } = value;
  if (!(cause instanceof Error) || value.message.includes(cause.message)) return value.message;
  return `${value.message}: ${plainText(cause)}`;
}

function two(value: number): string {
  return value < 10 ? `0${value}` : `${value}`;
}

/** `I0102 15:04:05.000000   12345 module]`: local time, process id padded to seven. */
export function klogHeader(
  severity: Severity,
  epochMs: number,
  pid: number,
  module: string,
): string {
  const at = new Date(epochMs);
  const day = `${two(at.getMonth() + 1)}${two(at.getDate())}`;
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  const micros = `${at.getMilliseconds()}`.padStart(3, '0').padEnd(6, '0');
  return `${severity}${day} ${time}.${micros} ${`${pid}`.padStart(7)} ${module}]`;
}

/** Several lines as an indented block, so that a reader sees where the value ends. */
function block(text: string): string {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return `<\n${lines.map((line) => `\t${line}`).join('\n')}\n >`;
}

function textValue(text: string): string {
  return text.includes('\n') ? block(text) : quoteGo(text);
}

function klogValue(value: unknown): string {
  if (typeof value === 'string') return textValue(value);
  if (value instanceof Error) return textValue(plainText(value));
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'symbol' || typeof value === 'function') return quoteGo(String(value));
  try {
    return stringifyJson(value);
  } catch (problem) {
    return quoteGo(`<internal error: ${plainText(problem)}>`);
  }
}

/**
 * Pairs as klog writes them after a message, each behind a space: texts quoted, several lines as a
 * block, everything else as JSON. Of a key given twice the later value counts; one that was given
 * before with the same value stays where it was.
 */
export function klogPairs(pairs: readonly Pair[]): string {
  const written = new Map<string, string>();
  for (const [key, value] of pairs) {
    const text = ` ${key}=${klogValue(value)}`;
    if (written.get(key) === text) continue;
    written.delete(key);
    written.set(key, text);
  }
  return [...written.values()].join('');
}
