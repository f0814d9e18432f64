/** Kinds of flag values: how each is read from text, written back and shown in help, as pflag does. */
import { formatGoDuration } from '../api/go-duration.ts';
import { parseAddress } from './go/address.ts';
import { readCsv, writeCsv } from './go/csv.ts';
import { parseDuration } from './go/duration.ts';
import {
  formatFloat,
  parseBool,
  parseFloating,
  parseInteger,
  parseUint31,
  ValueError,
} from './go/number.ts';
import { canonicalQuantity, checkQuantity } from './go/quantity.ts';
import { quote } from './go/quote.ts';
import { checkKubernetesVersion } from './versions.ts';

/** What a flag can hold; durations are nanoseconds. */
export type FlagValue =
  | boolean
  | number
  | bigint
  | string
  | readonly string[]
  | readonly number[]
  | ReadonlyMap<string, string>
  | readonly NamedCertificate[]
  | readonly ModuleLevel[]
  | readonly PrefixedText[];

/** A certificate for some host names (--tls-sni-cert-key); no names: those of the certificate. */
export interface NamedCertificate {
  readonly certFile: string;
  readonly keyFile: string;
  readonly names: readonly string[];
}

/** Verbosity of the modules whose name matches a glob (--vmodule). */
export interface ModuleLevel {
  readonly pattern: string;
  readonly level: number;
}

/** One entry of --feature-gates: component ("" if none was named) and "Gate=bool". */
export interface PrefixedText {
  readonly prefix: string;
  readonly text: string;
}

/** How values of one kind behave. `before` is what an earlier use of the flag has given. */
export interface Kind<V extends FlagValue> {
  /** Name in help; "" for switches. */
  readonly shown: string;
  /** Value of a flag given without one; absent: it needs one. */
  readonly bare?: string;
  readonly zero: V;
  /** Default texts that help leaves out. */
  readonly hidden: readonly string[];
  /** True if help shows the default in quotes. */
  readonly quoted?: boolean;
  /** Throws ValueError with Go's text. */
  parse(text: string, before: V | undefined): V;
  print(value: V): string;
}

function kind<V extends FlagValue>(definition: Kind<V>): Kind<V> {
  return definition;
}

function number(shown: string, parse: (text: string) => number): Kind<number> {
  return kind({ shown, zero: 0, hidden: ['0'], parse, print: formatFloat });
}

function integer(shown: string, bits: 32 | 64): Kind<number> {
  const parse = (text: string) => parseInteger(text, bits);
  return kind({ shown, zero: 0, hidden: ['0'], parse, print: String });
}

function parsePairs(text: string): readonly string[] {
  const signs = text.split('=').length - 1;
  if (signs === 0) throw new ValueError(`${text} must be formatted as key=value`);
  return signs === 1 ? [text.replace(/^"+|"+$/g, '')] : readCsv(text);
}

function parseMap(text: string, before: ReadonlyMap<string, string> | undefined) {
  const map = new Map(before);
  for (const pair of parsePairs(text)) {
    const at = pair.indexOf('=');
    if (at < 0) throw new ValueError(`${pair} must be formatted as key=value`);
    map.set(pair.slice(0, at), pair.slice(at + 1));
  }
  return map;
}

function printMap(map: ReadonlyMap<string, string>): string {
  const pairs = [...map]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, text]) => `${key}=${text}`);
  return `[${writeCsv(pairs)}]`;
}

function parseNamedCertificate(text: string): NamedCertificate {
  const at = text.indexOf(':');
  const files = (at < 0 ? text : text.slice(0, at)).trim().split(',');
  const names = at < 0 ? undefined : text.slice(at + 1).trim();
  if (names === '') throw new ValueError('empty names list is not allowed');
  const [certFile, keyFile] = files;
  if (certFile === undefined || keyFile === undefined || files.length > 2) {
    throw new ValueError('expected comma separated certificate and key file paths');
  }
  const list = names?.split(',').map((name) => name.trim()) ?? [];
  return { certFile: certFile.trim(), keyFile: keyFile.trim(), names: list };
}

function printNamedCertificate({ certFile, keyFile, names }: NamedCertificate): string {
  const files = `${certFile},${keyFile}`;
  return names.length === 0 ? files : `${files}:${names.join(',')}`;
}

function parseModuleLevel(text: string): ModuleLevel {
  const [pattern, level, ...more] = text.split('=');
  if (!pattern || !level || more.length > 0) {
    throw new ValueError(`${quote(text)} does not have the pattern=N format`);
  }
  try {
    return { pattern, level: parseUint31(level) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ValueError(`parsing verbosity in ${quote(text)}: ${reason}`);
  }
}

function parsePrefixed(text: string): PrefixedText {
  const at = text.indexOf(':');
  if (at < 0) return { prefix: '', text: text.trim() };
  return { prefix: text.slice(0, at).trim(), text: text.slice(at + 1).trim() };
}

function parts(text: string): string[] {
  return text.split(',').filter((part) => part !== '');
}

function parseIp(text: string): string {
  const address = parseAddress(text.trim());
  if (address === undefined) throw new ValueError(`failed to parse IP: ${quote(text)}`);
  return address;
}

function parseVersionFlag(text: string): string {
  if (text === 'raw') return text;
  if (!text.startsWith('v')) return String(parseBool(text));
  checkKubernetesVersion(text);
  return text;
}

/** All kinds, by the names that flag rows use. */
export const KINDS = {
  bool: kind<boolean>({
    shown: '',
    bare: 'true',
    zero: false,
    hidden: ['false'],
    parse: parseBool,
    print: String,
  }),
  int: integer('int', 64),
  int32: integer('int32', 32),
  float32: number('float32', (text) => parseFloating(text, 32)),
  float64: number('float', (text) => parseFloating(text, 64)),
  level: kind<number>({
    shown: 'Level',
    zero: 0,
    hidden: ['0'],
    parse: parseUint31,
    print: String,
  }),
  string: kind<string>({
    shown: 'string',
    zero: '',
    hidden: [''],
    quoted: true,
    parse: (text) => text,
    print: (value) => value,
  }),
  duration: kind<bigint>({
    shown: 'duration',
    zero: 0n,
    hidden: ['0s'],
    parse: parseDuration,
    print: formatGoDuration,
  }),
  strings: kind<readonly string[]>({
    shown: 'strings',
    zero: [],
    hidden: ['[]'],
    parse: (text, before) => [...(before ?? []), ...(text === '' ? [] : readCsv(text))],
    print: (value) => `[${writeCsv(value)}]`,
  }),
  int32s: kind<readonly number[]>({
    shown: 'int32Slice',
    zero: [],
    hidden: [],
    parse: (text, before) => [
      ...(before ?? []),
      ...text.split(',').map((part) => parseInteger(part, 32)),
    ],
    print: (value) => `[${value.join(',')}]`,
  }),
  map: kind<ReadonlyMap<string, string>>({
    shown: 'stringToString',
    zero: new Map(),
    hidden: [],
    parse: parseMap,
    print: printMap,
  }),
  ip: kind<string>({
    shown: 'ip',
    zero: '',
    hidden: ['<nil>'],
    parse: parseIp,
    print: (value) => value || '<nil>',
  }),
  namedCertificates: kind<readonly NamedCertificate[]>({
    shown: 'namedCertKey',
    zero: [],
    hidden: [],
    parse: (text, before) => [...(before ?? []), parseNamedCertificate(text)],
    print: (value) => `[${value.map(printNamedCertificate).join(';')}]`,
  }),
  moduleLevels: kind<readonly ModuleLevel[]>({
    shown: 'pattern=N,...',
    zero: [],
    hidden: [''],
    parse: (text, before) => [...(before ?? []), ...parts(text).map(parseModuleLevel)],
    print: (value) => value.map(({ pattern, level }) => `${pattern}=${level}`).join(','),
  }),
  prefixed: kind<readonly PrefixedText[]>({
    shown: 'colonSeparatedMultimapStringString',
    zero: [],
    hidden: [''],
    parse: (text, before) =>
      [...(before ?? []), ...parts(text).map(parsePrefixed)].sort((a, b) =>
        a.prefix === b.prefix ? 0 : a.prefix < b.prefix ? -1 : 1,
      ),
    print: (value) => value.map(({ prefix, text }) => `${prefix}:${text}`).join(','),
  }),
  quantity: kind<string>({
    shown: 'quantity',
    zero: '0',
    hidden: ['0'],
    parse: (text) => {
      checkQuantity(text);
      return canonicalQuantity(text);
    },
    print: (value) => value,
  }),
  version: kind<string>({
    shown: 'version',
    bare: 'true',
    zero: 'false',
    hidden: ['false'],
    parse: parseVersionFlag,
    print: (value) => value,
  }),
} as const;

/** Name of a kind. */
export type KindName = keyof typeof KINDS;
