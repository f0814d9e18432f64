import { expect, test } from 'bun:test';
import { EventEmitter } from 'node:events';
import { type Listener, listen } from './listen.ts';

/** A machine on which binding to some addresses fails with these codes. */
function machine(codes: Readonly<Record<string, string>>): { server: Listener; tried: string[] } {
  const tried: string[] = [];
  const server = new EventEmitter() as unknown as Listener & EventEmitter;
  server.listen = ((at: { host: string }, listening: () => void) => {
    tried.push(at.host);
    const code = codes[at.host];
    if (code === undefined) queueMicrotask(listening);
    else queueMicrotask(() => server.emit('error', Object.assign(new Error(code), { code })));
  }) as unknown as Listener['listen'];
  return { server, tried };
}

const at = (bindAddress: string) => ({ bindAddress, port: 1, sharePort: false });

test('0.0.0.0 is all families, and IPv4 alone where there is nothing else', async () => {
  const usual = machine({});
  await listen(usual.server, at('0.0.0.0'));
  expect(usual.tried).toEqual(['::']);
  const old = machine({ '::': '' });
  await listen(old.server, at('0.0.0.0'));
  expect(old.tried).toEqual(['::', '0.0.0.0']);
});

test('what is taken, forbidden or asked for by name is not looked for elsewhere', async () => {
  for (const [address, code] of [
    ['0.0.0.0', 'EADDRINUSE'],
    ['0.0.0.0', 'EACCES'],
    ['::', 'EAFNOSUPPORT'],
  ] as const) {
    const { server, tried } = machine({ '::': code });
    const message = `failed to create listener: listen tcp ${address}:1: ${code}`;
    await expect(listen(server, at(address))).rejects.toThrow(message);
    expect(tried).toEqual(['::']);
  }
});
