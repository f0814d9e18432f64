/** Where lines of the log go: all to one stream, or info messages, maybe buffered, to another. */
import type { Clock, Timer } from './clock.ts';
import type { Severity } from './log-format.ts';

export interface LogStreamsOptions {
  /** In JSON warnings are info messages, as in upstream's. */
  readonly format: 'text' | 'json';
  /** --log-*-split-stream: info messages go to `out`, the others to `err`; without it all to `err`. */
  readonly split: boolean;
  /** --log-*-info-buffer-size: info messages wait for so many bytes together; 0 waits for none. */
  readonly bufferBytes: number;
  /** --log-flush-frequency: none waits longer than this. */
  readonly flushMs: number;
  /** Takes one or more whole lines, without the last line break. */
  out(lines: string): void;
  err(lines: string): void;
  readonly clock: Pick<Clock, 'after'>;
}

/** Takes the lines of a logger. */
export interface LogStreams {
  write(line: string, severity: Severity): void;
  /** Writes what is buffered; nothing is buffered any more afterwards. */
  end(): void;
}

/** Streams as the flags of the log say; without --log-*-split-stream nothing is ever buffered. */
export function createLogStreams(options: LogStreamsOptions): LogStreams {
  const { format, split, bufferBytes, flushMs, out, err, clock } = options;
  const isInfo = (severity: Severity): boolean =>
    severity === 'I' || (severity === 'W' && format === 'json');
  let buffer: string[] = [];
  let bytes = 0;
  let timer: Timer | undefined;
  let ended = false;
  const flush = (): void => {
    timer?.cancel();
    timer = undefined;
    if (buffer.length === 0) return;
    const lines = buffer.join('\n');
    buffer = [];
    bytes = 0;
    out(lines);
  };
  const keep = (line: string): void => {
    const size = Buffer.byteLength(line) + 1;
    if (bytes + size > bufferBytes) flush();
    if (ended || size > bufferBytes) {
      out(line);
      return;
    }
    buffer.push(line);
    bytes += size;
    timer ??= clock.after(flushMs, flush, { background: true });
  };
  return {
    write: (line, severity) => {
      if (split && isInfo(severity)) keep(line);
      else err(line);
    },
    end: () => {
      ended = true;
      flush();
    },
  };
}
