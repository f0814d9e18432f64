/** The process's own standard output and error. */
import type { Terminal } from './ports.ts';

type Stream = NodeJS.WriteStream;

function isGone(error: Error | null | undefined): boolean {
  return (error as { code?: unknown } | null | undefined)?.code === 'EPIPE';
}

function writer(stream: Stream): (text: string) => Promise<void> {
  // Without a listener a closed pipe (`| head`) would end the process with a stack trace.
  stream.on('error', (error: Error) => {
    if (!isGone(error)) throw error;
  });
  return (text) =>
    new Promise((resolve, reject) => {
      stream.write(text, (error) => {
        if (error && !isGone(error)) reject(error);
        else resolve();
      });
    });
}

/** Standard output and error of this process. */
export function processTerminal(): Terminal {
  const { stdout, stderr } = process;
  return {
    out: writer(stdout),
    err: writer(stderr),
    columns: stdout.isTTY === true ? stdout.columns : 0,
  };
}
