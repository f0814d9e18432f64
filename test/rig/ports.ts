/** Free TCP ports on the loopback address. */
import { createServer } from 'node:net';

// Below the range Linux hands out to outgoing connections, so that nothing takes one meanwhile.
const FIRST = 12_000;
const LAST = 32_000;
const ATTEMPTS = 200;

const given = new Set<number>();

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** A port nobody listens on, never given twice by this process. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port between ${FIRST} and ${LAST} after ${ATTEMPTS} attempts`);
}
