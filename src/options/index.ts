/** The command line and what it means: flags, the --config file, checks, and the options they give. */
import { type FeatureGates, GateErrors, resolveGates } from './feature-gates.ts';
import { parseFile } from './file.ts';
import { ValueError } from './go/number.ts';
import { quote, quoteList } from './go/quote.ts';
import { DEFAULT_LEADER_MIGRATION, readLeaderMigration } from './leader-migration.ts';
import { checkLogging } from './logging.ts';
import { buildOptions, type Options } from './options.ts';
import { type ParsedLine, parseLine, SyntaxFault } from './parse.ts';
import { type ReadText, readProblem, readTextFile } from './read.ts';
import { aggregate, checkValues, setupProblem } from './validate.ts';
import { FlagValues, type SetValues } from './values.ts';
import { type EffectiveVersions, resolveVersions } from './versions.ts';

export type { ControllerSelection, SkippedController } from './controllers.ts';
export { selectControllers } from './controllers.ts';
export type { FeatureGates, GateState } from './feature-gates.ts';
export type { FlagRow, FlagSection } from './flags/row.ts';
export { SECTIONS } from './flags.ts';
export { helpText, usageText } from './help.ts';
export { KINDS } from './kinds.ts';
export type { KnownController } from './known-controllers.ts';
export { KNOWN_CONTROLLERS } from './known-controllers.ts';
export type { LoggingOptions } from './logging.ts';
export type * from './options.ts';
export { readProblem } from './read.ts';
export type { EffectiveFlag, FlagSource } from './values.ts';
export { minorText } from './versions.ts';

/** A command line that is refused; upstream exits 1 for each stage. */
export interface Refusal {
  /**
   * syntax: usage and "Error: message" go to stderr; arguments: "Error: message" alone;
   * setup: the message is logged ("command failed").
   */
  readonly stage: 'syntax' | 'arguments' | 'setup';
  readonly message: string;
}

/** What a command line comes to. `notices` are lines for stderr about deprecated flags. */
export type ParseResult = { readonly notices: readonly string[] } & (
  | { readonly kind: 'options'; readonly options: Options }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'help' }
  | { readonly kind: 'version'; readonly form: 'plain' | 'raw' }
);

/** What parsing needs besides the command line. */
export interface ParsePorts {
  /** Name the program was called by; upstream's by default. */
  readonly program?: string;
  /** Reads the files that flags name; the disk by default. */
  readonly readText?: ReadText;
}

/** What is refused once the words themselves were understood. */
class SetupFault extends Error {}

/** The first fault of what is decided right after parsing: versions, then feature gates. */
function resolveEarly(values: FlagValues): { versions: EffectiveVersions; gates: FeatureGates } {
  try {
    const versions = resolveVersions(
      values.list('emulated-version'),
      values.list('min-compatibility-version'),
    );
    return { versions, gates: resolveGates(values.prefixed('feature-gates'), versions) };
  } catch (error) {
    if (error instanceof GateErrors) {
      throw new SetupFault(aggregate(error.messages), { cause: error });
    }
    if (error instanceof ValueError) throw new SetupFault(error.message, { cause: error });
    throw error;
  }
}

function resolveMigration(values: FlagValues, readText: ReadText) {
  if (!values.bool('enable-leader-migration')) return undefined;
  const path = values.text('leader-migration-config');
  if (path === '') return DEFAULT_LEADER_MIGRATION;
  try {
    return readLeaderMigration(path, readText);
  } catch (error) {
    throw new SetupFault(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function readConfig(line: SetValues, readText: ReadText) {
  const path = line.get('config');
  if (typeof path !== 'string' || path === '') return undefined;
  let text: string;
  try {
    text = readText(path);
  } catch (error) {
    const reason = readProblem('open', path, error);
    throw new SetupFault(`--config ${path}: ${reason}`, { cause: error });
  }
  return parseFile(path, text);
}

function refuse(errors: readonly string[]): void {
  if (errors.length > 0) throw new SetupFault(aggregate(errors));
}

interface Setup {
  readonly line: ParsedLine;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly program: string;
  readonly readText: ReadText;
}

/** Everything after the words themselves were understood. Throws SetupFault. */
function setUp({ line, env, program, readText }: Setup): ParseResult {
  const file = readConfig(line.values, readText);
  refuse(file?.errors ?? []);
  const notices = [...line.notices, ...(file?.notices ?? [])];
  const values = new FlagValues(line.values, file?.values);
  const { versions, gates } = resolveEarly(values);
  const version = values.text('version');
  if (version === 'true' || version === 'raw') {
    return { kind: 'version', form: version === 'raw' ? 'raw' : 'plain', notices };
  }
  refuse(checkLogging(values, gates));
  refuse(checkValues(values, versions, gates, readText));
  const migration = resolveMigration(values, readText);
  const problem = setupProblem(values);
  if (problem !== undefined) throw new SetupFault(problem);
  const parts = { program, values, versions, gates, migration, env, readText };
  return { kind: 'options', options: buildOptions(parts), notices };
}

function refused(stage: Refusal['stage'], message: string, notices: readonly string[]) {
  return { kind: 'refused', refusal: { stage, message }, notices } as const;
}

/**
 * Understands a command line (without the program's name) as kube-controller-manager does, and in
 * the same order: words, --help, arguments, versions and gates, --version, logging, all other
 * checks together. `env` is the process's environment.
 */
export function parseOptions(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  ports: ParsePorts = {},
): ParseResult {
  const { program = 'kube-controller-manager', readText = readTextFile } = ports;
  let line: ParsedLine;
  try {
    line = parseLine(argv);
  } catch (error) {
    if (!(error instanceof SyntaxFault)) throw error;
    // As upstream, which swallows notices about deprecated flags when a later word is wrong.
    return refused('syntax', error.message, []);
  }
  if (line.values.get('help') === true) return { kind: 'help', notices: line.notices };
  if (line.positional.some((word) => word !== '')) {
    const found = quoteList(line.positional);
    const message = `${quote(program)} does not take any arguments, got ${found}`;
    return refused('arguments', message, line.notices);
  }
  try {
    return setUp({ line, env, program, readText });
  } catch (error) {
    if (!(error instanceof SetupFault)) throw error;
    return refused('setup', error.message, line.notices);
  }
}
