/** The logging port: structured, klog-shaped. `createLogger` makes the real one. */
import { stringifyJson } from '../api/json.ts';
import type { Clock } from './clock.ts';
import {
  klogHeader,
  klogPairs,
  type Pair,
  plainText,
  quoteGo,
  type Severity,
} from './log-format.ts';

/** Key and value pairs that follow a message. */
export type LogFields = Readonly<Record<string, unknown>>;

export interface Logger {
  info(message: string, fields?: LogFields): void;
  warning(message: string, fields?: LogFields): void;
  error(message: string, error: unknown, fields?: LogFields): void;
  /** A logger that writes only if verbosity (-v, --vmodule) is at least `level`. */
  v(level: number): Pick<Logger, 'info'>;
  /** True if `v(level)` would write. */
  enabled(level: number): boolean;
  /** A logger for one module: its name selects --vmodule, its fields are added to each line. */
  named(name: string, fields?: LogFields): Logger;
}

/** One pattern of --vmodule: modules that match it log up to `level`. */
export interface ModuleLevel {
  readonly pattern: string;
  readonly level: number;
}

export interface LoggerOptions {
  readonly format: 'text' | 'json';
  /** -v. */
  readonly verbosity: number;
  /** --vmodule, parsed; the first pattern that matches a module counts. */
  readonly vmodule?: readonly ModuleLevel[];
  /** Takes one line without its line break (text values may hold breaks inside). */
  write(line: string, severity: Severity): void;
  readonly clock: Pick<Clock, 'now'>;
  readonly pid: number;
  /** Module name of lines from the logger itself. */
  readonly module?: string;
}

/** The process's logger: verbosity can be changed while it runs. */
export interface RootLogger extends Logger {
  verbosity(): number;
  setVerbosity(level: number): void;
  /** Other patterns of --vmodule from now on. */
  setModuleLevels(levels: readonly ModuleLevel[]): void;
  /** Lines that were lost because `write` threw. */
  lostLines(): number;
}

/** A pattern of path.Match as a regular expression; what it can't read matches nothing. */
function globRegExp(pattern: string): RegExp {
  const source = pattern.replace(/\[\^?[^\]]+\]|[\s\S]/g, (part) => {
    if (part === '*') return '[^/]*';
    if (part === '?') return '[^/]';
    return part.length > 1 ? part : part.replace(/[\\^$.|+()[\]{}/]/, '\\$&');
  });
  try {
    return new RegExp(`^${source}$`);
  } catch {
    return /^\b$/;
  }
}

type Patterns = readonly { readonly match: RegExp; readonly level: number }[];

function patternsOf(levels: readonly ModuleLevel[]): Patterns {
  return levels.map(({ pattern, level }) => ({ match: globRegExp(pattern), level }));
}

interface Sink {
  readonly options: LoggerOptions;
  patterns: Patterns;
  verbosity: number;
  lost: number;
}

const SILENT: Pick<Logger, 'info'> = { info: () => undefined };

class ModuleLogger implements Logger {
  readonly #sink: Sink;
  readonly #module: string;
  readonly #fields: readonly Pair[];
  /** Level that the patterns of --vmodule grant this module, and which patterns these were. */
  #granted = 0;
  #patterns: Patterns = [];

  constructor(sink: Sink, module: string, fields: readonly Pair[]) {
    this.#sink = sink;
    this.#module = module;
    this.#fields = fields;
  }

  info(message: string, fields?: LogFields): void {
    this.#print('I', 0, message, fields);
  }

  warning(message: string, fields?: LogFields): void {
    this.#print('W', 0, message, fields);
  }

  error(message: string, error: unknown, fields?: LogFields): void {
    this.#print('E', 0, message, fields, error);
  }

  v(level: number): Pick<Logger, 'info'> {
    if (!this.enabled(level)) return SILENT;
    return { info: (message, fields) => this.#print('I', level, message, fields) };
  }

  enabled(level: number): boolean {
    return level <= this.#sink.verbosity || level <= this.#moduleLevel();
  }

  named(name: string, fields: LogFields = {}): Logger {
    return new ModuleLogger(this.#sink, name, [...this.#fields, ...Object.entries(fields)]);
  }

  #moduleLevel(): number {
    const { patterns } = this.#sink;
    if (patterns !== this.#patterns) {
      this.#patterns = patterns;
      this.#granted = patterns.find(({ match }) => match.test(this.#module))?.level ?? 0;
    }
    return this.#granted;
  }

  #print(
    severity: Severity,
    level: number,
    message: string,
    fields: LogFields = {},
    error?: unknown,
  ): void {
    const { options } = this.#sink;
    const pairs = [...this.#fields, ...Object.entries(fields)];
    try {
      options.write(
        options.format === 'json'
          ? this.#json(severity, level, message, pairs, error)
          : this.#text(severity, message, pairs, error),
        severity,
      );
    } catch {
      this.#sink.lost++;
    }
  }

  #text(severity: Severity, message: string, pairs: readonly Pair[], error: unknown): string {
    const { clock, pid } = this.#sink.options;
    const head = klogHeader(severity, clock.now(), pid, this.#module);
    const all: readonly Pair[] = error === undefined ? pairs : [['err', error], ...pairs];
    return `${head} ${quoteGo(message)}${klogPairs(all)}`;
  }

  #json(
    severity: Severity,
    level: number,
    message: string,
    pairs: readonly Pair[],
    error: unknown,
  ): string {
    const now = this.#sink.options.clock.now();
    const line: Record<string, unknown> = { ts: now, logger: this.#module, msg: message };
    // Like upstream's: errors carry no level; warnings exist only here.
    if (severity !== 'E') line.v = level;
    if (severity === 'W') line.severity = 'warning';
    for (const [key, value] of pairs) line[key] = value instanceof Error ? value.message : value;
    if (error !== undefined) line.err = plainText(error);
    try {
      return stringifyJson(line);
    } catch (problem) {
      const reason = `the fields could not be written: ${plainText(problem)}`;
      return stringifyJson({ ts: now, logger: this.#module, msg: message, err: reason });
    }
  }
}

/**
 * The real logger: klog's text format with the module's name where klog has file and line, or
 * upstream's JSON lines. Never throws: lines that can't be written are counted.
 */
export function createLogger(options: LoggerOptions): RootLogger {
  const patterns = patternsOf(options.vmodule ?? []);
  const sink: Sink = { options, patterns, verbosity: options.verbosity, lost: 0 };
  const logger = new ModuleLogger(sink, options.module ?? 'main', []);
  return Object.assign(logger, {
    verbosity: () => sink.verbosity,
    setVerbosity: (level: number) => {
      sink.verbosity = level;
    },
    setModuleLevels: (levels: readonly ModuleLevel[]) => {
      sink.patterns = patternsOf(levels);
    },
    lostLines: () => sink.lost,
  });
}
