/** The file of --config: YAML of kind HoldfastConfiguration that gives flags by name. */
import { isAlias, isMap, isScalar, isSeq, type Node, parseDocument, type YAMLMap } from 'yaml';
import type { FlagRow } from './flags/row.ts';
import { FLAGS, kindOf } from './flags.ts';
import { ValueError } from './go/number.ts';
import type { FlagValue, KindName } from './kinds.ts';
import { nearestName } from './nearest.ts';
import { normalName, parseValue } from './parse.ts';

const KIND = 'HoldfastConfiguration';
const API_VERSION = 'holdfast.dev/v1';
/** These only make sense on a command line. */
const LINE_ONLY = ['config', 'help', 'version'];
const FILE_NAMES = [...FLAGS.keys()].filter((name) => !LINE_ONLY.includes(name));
/** Kinds that take a list, one use of the flag for each entry. */
const LIST_KINDS: readonly KindName[] = [
  'strings',
  'int32s',
  'namedCertificates',
  'moduleLevels',
  'prefixed',
];
/** Kinds that take a map, one use of the flag for each pair. */
const MAP_KINDS: readonly KindName[] = ['map', 'moduleLevels', 'prefixed'];

/** What the file says, and what is wrong with it. */
export interface FileValues {
  readonly values: ReadonlyMap<string, FlagValue>;
  /** Each names the key, what was found and what would be valid. */
  readonly errors: readonly string[];
  /** Lines about deprecated flags. */
  readonly notices: readonly string[];
}

function describe(node: unknown): string {
  if (isMap(node)) return 'a map';
  if (isSeq(node)) return 'a list';
  if (isScalar(node)) return node.value === null ? 'nothing' : `"${scalarText(node)}"`;
  return isAlias(node) ? 'an alias' : 'nothing';
}

/** A scalar as it was written, so that 1e3 or 0x10 reach the flag unchanged. */
function scalarText(node: { value: unknown; source?: string }): string {
  return typeof node.value === 'string' ? node.value : (node.source ?? String(node.value));
}

function keyText(key: unknown): string {
  return isScalar(key) ? String(key.value) : describe(key);
}

type Pair = readonly [key: string, text: string];

function textsOf(items: readonly unknown[]): string[] | undefined {
  const texts = items.flatMap((item) => (isScalar(item) ? [scalarText(item)] : []));
  return texts.length === items.length ? texts : undefined;
}

function pairsOf(map: YAMLMap): Pair[] | undefined {
  const texts = textsOf(map.items.map(({ value }) => value));
  return texts?.map((text, at) => [keyText(map.items[at]?.key), text]);
}

function parseEach(row: FlagRow, texts: readonly string[]): FlagValue {
  let value: FlagValue = kindOf(row).zero;
  for (const text of texts) value = parseValue(row, text, value);
  return value;
}

/** The value of a node; undefined if the flag can't hold that. Throws ValueError. */
function nodeValue(row: FlagRow, node: unknown): FlagValue | undefined {
  if (isScalar(node) && node.value !== null) return parseValue(row, scalarText(node), undefined);
  if (isSeq(node) && LIST_KINDS.includes(row.kind)) {
    const texts = textsOf(node.items);
    return texts === undefined || row.kind === 'strings' ? texts : parseEach(row, texts);
  }
  if (isMap(node) && MAP_KINDS.includes(row.kind)) {
    const pairs = pairsOf(node);
    if (pairs === undefined || row.kind === 'map') return pairs && new Map(pairs);
    return parseEach(
      row,
      pairs.map(([key, text]) => `${key}=${text}`),
    );
  }
  return undefined;
}

function validFor(row: FlagRow): string {
  const forms = ['one value'];
  if (LIST_KINDS.includes(row.kind)) forms.push('a list of values');
  if (MAP_KINDS.includes(row.kind)) forms.push('a map of values');
  return forms.join(' or ');
}

class FileReader {
  readonly values = new Map<string, FlagValue>();
  readonly errors: string[] = [];
  readonly notices: string[] = [];

  constructor(private readonly path: string) {}

  read(text: string): void {
    const document = parseDocument(text);
    for (const error of document.errors) {
      this.fault(error.message.split('\n')[0]?.replace(/:$/, '') ?? '');
    }
    if (document.errors.length > 0) return;
    const root = document.contents;
    if (!isMap(root)) {
      this.fault(`found ${describe(root)}; valid is a map with kind: ${KIND}`);
      return;
    }
    this.head(root);
    this.body(root);
  }

  private fault(what: string): void {
    this.errors.push(`--config ${this.path}: ${what}`);
  }

  private head(root: YAMLMap): void {
    const kind = root.get('kind', true) as Node | undefined;
    if (!isScalar(kind) || kind.value !== KIND) {
      this.fault(`kind: found ${describe(kind)}; valid is ${KIND}`);
    }
    const version = root.get('apiVersion', true) as Node | undefined;
    if (version !== undefined && (!isScalar(version) || version.value !== API_VERSION)) {
      this.fault(`apiVersion: found ${describe(version)}; valid is ${API_VERSION}`);
    }
  }

  private body(root: YAMLMap): void {
    for (const { key, value } of root.items) {
      const name = keyText(key);
      if (name === 'kind' || name === 'apiVersion') continue;
      if (name !== 'flags') {
        this.flag(name, value, '');
      } else if (isMap(value)) {
        for (const entry of value.items) this.flag(keyText(entry.key), entry.value, 'flags.');
      } else {
        this.fault(`flags: found ${describe(value)}; valid is a map of flag names to values`);
      }
    }
  }

  private flag(key: string, node: unknown, prefix: string): void {
    const name = normalName(key);
    const row = FLAGS.get(name);
    if (row === undefined) {
      const nearest = nearestName(name, FILE_NAMES);
      this.fault(`${prefix}${key}: no such flag; the nearest valid name is ${nearest}`);
    } else if (LINE_ONLY.includes(name)) {
      this.fault(`${prefix}${key}: this flag is valid on the command line only`);
    } else if (this.values.has(name)) {
      this.fault(`${prefix}${key}: given twice; --${name} is valid once`);
    } else {
      this.set(row, node, `${prefix}${key}`);
    }
  }

  private set(row: FlagRow, node: unknown, place: string): void {
    try {
      const value = nodeValue(row, node);
      if (value === undefined) {
        this.fault(`${place}: found ${describe(node)}; valid is ${validFor(row)}`);
        return;
      }
      this.values.set(row.name, value);
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
      this.fault(`${place}: ${error.message}`);
      return;
    }
    if (row.deprecated !== undefined) {
      this.notices.push(`Flag --${row.name} has been deprecated, ${row.deprecated}`);
    }
  }
}

/** Reads the text of a --config file; `path` is named in every error. */
export function parseFile(path: string, text: string): FileValues {
  const reader = new FileReader(path);
  reader.read(text);
  return reader;
}
