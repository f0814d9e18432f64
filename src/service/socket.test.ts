import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openNotifySocket, unixAddress } from './socket.ts';
import { listen } from './testing/listener.ts';

const dir = mkdtempSync(join(tmpdir(), 'holdfast-notify-'));

afterAll(() => rmSync(dir, { recursive: true }));

describe('a notify socket', () => {
  test.each([
    ['a path', join(dir, 'notify')],
    ['an abstract name', `@holdfast/${dir}`],
  ])('reaches who listens on %s', (_, name) => {
    const listener = listen(name);
    const socket = openNotifySocket(name);
    expect(socket.send('READY=1\nSTATUS=grün')).toBe(true);
    expect(socket.send('WATCHDOG=1')).toBe(true);
    expect(listener.read()).toEqual(['READY=1', 'STATUS=grün', 'WATCHDOG=1']);
    expect(listener.read()).toEqual([]);
    socket.close();
    listener.close();
  });

  test('says so when nobody listens or the queue is full, and never waits', () => {
    const socket = openNotifySocket(join(dir, 'later'));
    expect(socket.send('READY=1')).toBe(false);
    const listener = listen(join(dir, 'later'));
    let sent = 0;
    while (socket.send('WATCHDOG=1')) sent++;
    expect(listener.read()).toHaveLength(sent);
    expect(socket.send('READY=1')).toBe(true);
    socket.close();
    listener.close();
  });

  test.each(['notify', 'vsock:2:1', '@', '/', `/${'a'.repeat(107)}`, `@${'a'.repeat(108)}`])(
    'refuses the address %s',
    (name) => {
      expect(() => unixAddress(name)).toThrow(
        `NOTIFY_SOCKET: found ${JSON.stringify(name)}; valid is a path that begins with /`,
      );
    },
  );

  test('takes the longest address of both kinds', () => {
    expect(unixAddress(`/${'a'.repeat(106)}`)).toHaveLength(110);
    expect(unixAddress(`@${'a'.repeat(107)}`)).toHaveLength(110);
  });
});
