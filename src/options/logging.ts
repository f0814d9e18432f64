/** What the logging flags ask for, and upstream's checks of them. */
import { quantityNanos } from '../api/quantity.ts';
import type { FeatureGates } from './feature-gates.ts';
import { quote } from './go/quote.ts';
import type { ModuleLevel } from './kinds.ts';
import type { FlagValues } from './values.ts';
import { printDuration } from './values.ts';

/** Output of one log format (alpha). */
export interface LogStreams {
  /** Info messages to stdout, the rest to stderr, instead of all to one stream. */
  readonly split: boolean;
  /** Of info messages that are split off; 0 doesn't buffer. */
  readonly infoBufferBytes: number;
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

/** Upstream's bound. */
const BUFFER_BYTES_MOST = 2 * 1024 ** 3;
const NANO = 1_000_000_000n;

function bufferFlag(format: 'text' | 'json'): string {
  return `log-${format}-info-buffer-size`;
}

/** Whole bytes of a quantity, a part of one counted as one. */
function bytesOf(quantity: string): number {
  const nanos = quantityNanos(quantity) ?? 0n;
  return nanos <= 0n ? 0 : Math.min(Number((nanos + NANO - 1n) / NANO), BUFFER_BYTES_MOST);
}

function streams(values: FlagValues, format: 'text' | 'json'): LogStreams {
  return {
    split: values.bool(`log-${format}-split-stream`),
    infoBufferBytes: bytesOf(values.text(bufferFlag(format))),
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
  const { split } = streams(values, format);
  const disabled = 'Forbidden: Feature LoggingAlphaOptions is disabled';
  const errors = split ? [`options.${format}.splitStream: ${disabled}`] : [];
  if (values.text(bufferFlag(format)) !== '0')
    errors.push(`options.${format}.infoBufferSize: ${disabled}`);
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
