/** What the logging flags ask for, and upstream's checks of them. */
import type { FeatureGates } from './feature-gates.ts';
import { quote } from './go/quote.ts';
import type { ModuleLevel } from './kinds.ts';
import type { FlagValues } from './values.ts';
import { printDuration } from './values.ts';

/** Output of one log format (alpha). */
export interface LogStreams {
  /** Errors to stderr, the rest to stdout, instead of all to one stream. */
  readonly split: boolean;
  /** A quantity; "0" doesn't buffer. */
  readonly infoBufferSize: string;
}

/** How the process logs. */
export interface LoggingOptions {
  readonly format: 'text' | 'json';
  /** -v. */
  readonly verbosity: number;
  readonly vmodule: readonly ModuleLevel[];
  readonly flushFrequencyMs: number;
  readonly text: LogStreams;
  readonly json: LogStreams;
}

const FORMATS = ['json', 'text'] as const;

function streams(values: FlagValues, format: 'text' | 'json'): LogStreams {
  return {
    split: values.bool(`log-${format}-split-stream`),
    infoBufferSize: values.text(`log-${format}-info-buffer-size`),
  };
}

/** The options; the flags must have passed `checkLogging`. */
export function loggingOptions(values: FlagValues): LoggingOptions {
  return {
    format: values.text('logging-format') === 'json' ? 'json' : 'text',
    verbosity: values.number('v'),
    vmodule: values.moduleLevels('vmodule'),
    flushFrequencyMs: values.ms('log-flush-frequency'),
    text: streams(values, 'text'),
    json: streams(values, 'json'),
  };
}

function checkStreams(values: FlagValues, format: 'text' | 'json'): string[] {
  const { split, infoBufferSize } = streams(values, format);
  const disabled = 'Forbidden: Feature LoggingAlphaOptions is disabled';
  const errors = split ? [`options.${format}.splitStream: ${disabled}`] : [];
  if (infoBufferSize !== '0') errors.push(`options.${format}.infoBufferSize: ${disabled}`);
  return errors;
}

/** Complaints about the logging flags, in upstream's words and order. */
export function checkLogging(values: FlagValues, gates: FeatureGates): string[] {
  const errors: string[] = [];
  const flush = values.duration('log-flush-frequency');
  if (flush <= 0n) {
    const found = quote(printDuration(flush));
    errors.push(`flushFrequency: Invalid value: ${found}: Must be greater than zero`);
  }
  const format = values.text('logging-format');
  if (!FORMATS.some((known) => known === format)) {
    errors.push(`format: Invalid value: ${quote(format)}: Unsupported log format`);
  } else if (format === 'json' && !gates.enabled('LoggingBetaOptions')) {
    const gate = 'LoggingBetaOptions';
    errors.push(`format: Forbidden: Log format ${format} is disabled, see ${gate} feature`);
  }
  if (values.moduleLevels('vmodule').length > 0 && format !== '' && format !== 'text') {
    errors.push('vmodule: Forbidden: Only supported for text log format');
  }
  if (!gates.enabled('LoggingAlphaOptions')) {
    errors.push(...checkStreams(values, 'text'), ...checkStreams(values, 'json'));
  }
  return errors;
}
