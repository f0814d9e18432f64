/** The logging port: structured, klog-shaped. `createLogger` makes the real one. */

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
