/**
 * What scenarios came to under the reference manager, kept as files in reference/, a file a suite.
 * `make reference` plays all scenarios under both managers and writes the files anew.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from '../rig/index.ts';
import { RIG_FOLDER } from '../rig/index.ts';

/** What to do with the files: compare with them, write them, or play both managers each time. */
export type Keeping = 'compare' | 'write' | 'live';

interface KeptFile {
  /** Of the reference manager, with a "v". */
  readonly version: string;
  readonly scenarios: Readonly<Record<string, Json>>;
}

const FOLDER = join(import.meta.dir, 'reference');
const KEEPINGS: readonly string[] = ['compare', 'write', 'live'];
/** Objects nested deeper than this stand on one line. */
const DEPTH_MAX = 4;

/** Set, each makes clusters of another make than those that the files come from. */
const OTHER_MAKES = ['HOLDFAST_RIG_STORAGE', 'HOLDFAST_RIG_SERVER', 'HOLDFAST_RIG_EMULATED'];

/** As HOLDFAST_REFERENCE says; a rig of another make is always compared live. */
export function keeping(env: Readonly<Record<string, string | undefined>> = process.env): Keeping {
  const told = env.HOLDFAST_REFERENCE;
  if (told !== undefined && !KEEPINGS.includes(told)) {
    throw new Error(`HOLDFAST_REFERENCE=${told}: must be one of ${KEEPINGS.join(', ')}`);
  }
  if (told !== undefined) return told as Keeping;
  return OTHER_MAKES.some((name) => env[name]) ? 'live' : 'compare';
}

/** The version of the reference manager that the rig builds. */
export function referenceVersion(): string {
  const pins = readFileSync(join(RIG_FOLDER, 'go.mod'), 'utf8');
  const version = /^\tk8s\.io\/kubernetes (v[0-9.]+)/m.exec(pins)?.[1];
  if (version === undefined) throw new Error('test/rig/go.mod pins no k8s.io/kubernetes');
  return version;
}

/** What a value is once it was written to a file: without what is undefined. */
export function asKept<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

/** The snapshots of one suite of scenarios. */
export class KeptSnapshots {
  readonly #path: string;
  readonly #kept: Map<string, Json>;
  readonly #version: string;

  /** Reads what is there; a file of another version of the reference counts for nothing. */
  constructor(suite: string, version: string, folder = FOLDER) {
    this.#path = join(folder, `${suite}.json`);
    this.#version = version;
    const file = existsSync(this.#path) ? read(this.#path) : undefined;
    this.#kept = new Map(Object.entries(file?.version === version ? file.scenarios : {}));
  }

  /** What the reference came to, or undefined when nobody has kept that. */
  of(scenario: string): Json | undefined {
    return this.#kept.get(scenario);
  }

  keep(scenario: string, snapshot: Json): void {
    this.#kept.set(scenario, snapshot);
  }

  /** Writes the file, with these scenarios only, in this order. */
  async write(scenarios: readonly string[]): Promise<void> {
    const kept = scenarios.flatMap((name) => (this.#kept.has(name) ? [name] : []));
    const file: KeptFile = {
      version: this.#version,
      scenarios: Object.fromEntries(kept.map((name) => [name, this.#kept.get(name)])),
    };
    await Bun.write(this.#path, `${layOut(file as unknown as Json)}\n`);
  }
}

function read(path: string): KeptFile {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as KeptFile;
  } catch (error) {
    throw new Error(`${path} can't be read, \`make reference\` writes it anew: ${error}`);
  }
}

/** JSON that a person can compare line by line: the outer levels are indented, an object a line. */
function layOut(value: Json, depth = 0): string {
  if (depth === DEPTH_MAX || typeof value !== 'object' || value === null) {
    return JSON.stringify(value);
  }
  const isList = Array.isArray(value);
  const entries = isList
    ? value.map((item) => layOut(item, depth + 1))
    : Object.entries(value).map(
        ([key, one]) => `${JSON.stringify(key)}: ${layOut(one, depth + 1)}`,
      );
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  if (entries.length === 0) return `${open}${close}`;
  const pad = ' '.repeat(depth + 1);
  return `${open}\n${pad}${entries.join(`,\n${pad}`)}\n${' '.repeat(depth)}${close}`;
}
