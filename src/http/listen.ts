/** Binding the port. */
import type { Server } from 'node:net';
import type { ServeOptions } from './options.ts';

/** What is needed of a server that is to listen. */
export type Listener = Pick<Server, 'once' | 'off' | 'listen'>;
export type Place = Pick<ServeOptions, 'bindAddress' | 'port' | 'sharePort'>;

const ALL_FAMILIES = '::';
const ALL_OF_IPV4 = '0.0.0.0';
/** What another family of addresses doesn't help against. */
const FINAL = ['EADDRINUSE', 'EACCES'];

/**
 * Resolves when it listens. 0.0.0.0 means all addresses of all families, or those of IPv4 on a
 * machine that has no other. Throws naming the address.
 */
export async function listen(server: Listener, place: Place): Promise<void> {
  const { bindAddress, port } = place;
  const hosts = bindAddress === ALL_OF_IPV4 ? [ALL_FAMILIES, ALL_OF_IPV4] : [bindAddress];
  let cause: (Error & { readonly code?: string }) | undefined;
  for (const host of hosts) {
    cause = await listenAt(server, host, place);
    if (cause === undefined) return;
    if (FINAL.includes(cause.code ?? '')) break;
  }
  const message = `failed to create listener: listen tcp ${bindAddress}:${port}: ${cause?.message}`;
  throw new Error(message, { cause });
}

/** The error that keeps it from listening there, if any. */
async function listenAt(
  server: Listener,
  host: string,
  { port, sharePort: reusePort }: Place,
): Promise<Error | undefined> {
  return await new Promise((resolve) => {
    server.once('error', resolve);
    server.listen({ port, host, reusePort }, () => {
      server.off('error', resolve);
      resolve(undefined);
    });
  });
}
