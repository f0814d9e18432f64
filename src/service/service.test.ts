/** The door in a process of its own, against a real socket. */
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../runtime/clock.ts';
import { createLogger } from '../runtime/log.ts';
import { openService } from './index.ts';
import { listen } from './testing/listener.ts';

const dir = mkdtempSync(join(tmpdir(), 'holdfast-service-'));
const clock = systemClock();
const LOOK_MS = 5;

afterAll(() => rmSync(dir, { recursive: true }));

function logged() {
  const lines: string[] = [];
  const write = (line: string) => lines.push(line);
  return { lines, log: createLogger({ format: 'text', verbosity: 0, write, clock, pid: 1 }) };
}

async function until(done: () => boolean): Promise<void> {
  while (!done()) await clock.sleep(LOOK_MS);
}

describe('the service manager', () => {
  test('nothing happens without NOTIFY_SOCKET', () => {
    const { lines, log } = logged();
    const environment = { notifySocket: '', watchdogUsec: '1', watchdogPid: '' };
    const service = openService(environment, { clock, log, pid: 1 });
    let looks = 0;
    let reloads = 0;
    service.follow(() => ({ ready: ++looks > 0, status: '' }));
    service.look();
    service.reload(() => reloads++);
    service.stopping('');
    service.close();
    expect([looks, reloads, lines]).toEqual([0, 1, []]);
  });

  test('an address of no use is named in the log and is no reason to end', () => {
    const { lines, log } = logged();
    const environment = { notifySocket: 'vsock:2:9', watchdogUsec: '', watchdogPid: '' };
    openService(environment, { clock, log, pid: 1 }).look();
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('NOTIFY_SOCKET: found \\"vsock:2:9\\"');
  });

  test('a main thread that is stuck feeds no watchdog', async () => {
    const name = join(dir, 'notify');
    const listener = listen(name);
    const child = Bun.spawn([process.execPath, join(import.meta.dir, 'testing', 'stuck.ts')], {
      env: { ...process.env, NOTIFY_SOCKET: name, WATCHDOG_USEC: '20000' },
    });
    const heard: string[] = [];
    const has = (line: string, times = 1) => {
      heard.push(...listener.read());
      return heard.filter((one) => one === line).length >= times;
    };
    await until(() => has('READY=1') && has('WATCHDOG=1', 3));
    child.kill('SIGUSR2');
    await until(() => has('STATUS=Free'));
    const stuck = heard.splice(0, heard.indexOf('STATUS=Free') + 1);
    expect(stuck.slice(stuck.indexOf('STATUS=Stuck'))).toEqual(['STATUS=Stuck', 'STATUS=Free']);
    await until(() => has('WATCHDOG=1'));
    child.kill('SIGKILL');
    await child.exited;
    listener.close();
  }, 60_000);
});
