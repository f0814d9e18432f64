/** A logger for the candidate's thread: its lines are written by the main thread. */
import type { LogFields, Logger } from '../runtime/log.ts';
import type { FromCandidate } from './messages.ts';

type Line = Extract<FromCandidate, { kind: 'log' }>;

/** Posts lines up to `verbosity`; what can't be posted as it is becomes text. */
export function postedLogger(
  tell: (message: FromCandidate) => void,
  verbosity: number,
  added: LogFields = {},
): Logger {
  const post = (level: Line['level'], message: string, fields: LogFields = {}) =>
    tell({ kind: 'log', level, message, fields: plain({ ...added, ...fields }) });
  return {
    info: (message, fields) => post('info', message, fields),
    warning: (message, fields) => post('warning', message, fields),
    error: (message, error, fields) => post('error', message, { ...fields, err: error }),
    v: (level) => ({
      info: (message, fields) => {
        if (level <= verbosity) post(level, message, fields);
      },
    }),
    enabled: (level) => level <= verbosity,
    named: (_name, fields) => postedLogger(tell, verbosity, { ...added, ...fields }),
  };
}

/** Writes a posted line. */
export function writePosted(log: Logger, { level, message, fields }: Line): void {
  const { err, ...others } = fields;
  if (level === 'error') log.error(message, err, others);
  else if (level === 'info') log.info(message, fields);
  else if (level === 'warning') log.warning(message, fields);
  else log.v(level).info(message, fields);
}

function plain(fields: LogFields): Line['fields'] {
  const named = Object.entries(fields).map(([name, value]) => [name, plainValue(value)]);
  return Object.fromEntries(named) as Line['fields'];
}

function plainValue(value: unknown): string | number {
  if (typeof value === 'number' || typeof value === 'string') return value;
  return value instanceof Error ? value.message : String(value);
}
