import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { takeProcessLock } from './index.ts';
import {
  cleanUp,
  SLOW_TEST_MS,
  smallDisk,
  startChild,
  temporaryDirectory,
  until,
} from './testing/kit.ts';

setDefaultTimeout(SLOW_TEST_MS);
afterAll(cleanUp);

describe('the process lock', () => {
  test('is held by one process, which is named to the others', async () => {
    const dir = temporaryDirectory();
    const first = startChild('lock', dir);
    await until(() => first.lines.length > 0);
    expect(first.lines).toEqual(['held']);
    const holder = `pid ${first.pid}`;
    expect(takeProcessLock(dir, 'me')).toMatchObject({ held: false, reason: 'locked', holder });
    const second = startChild('lock', dir);
    await until(() => second.lines.length > 0);
    expect(second.lines).toEqual([`locked: ${holder}`]);
    await second.kill();
    await first.kill();
  });

  test('is free at once after its holder was killed', async () => {
    const dir = temporaryDirectory();
    const child = startChild('lock', dir);
    await until(() => child.lines.length > 0);
    await child.kill();
    const lock = takeProcessLock(dir, 'me');
    expect(lock.held).toBe(true);
    if (lock.held) lock.release();
  });

  test('can be released and taken again, leaves no journal, and is private', () => {
    const dir = temporaryDirectory();
    for (let round = 0; round < 2; round++) {
      const lock = takeProcessLock(dir, 'me');
      expect(readdirSync(dir).sort()).toEqual(['lock.db', 'lock.holder']);
      expect(statSync(join(dir, 'lock.holder')).mode & 0o077).toBe(0);
      expect(statSync(join(dir, 'lock.db')).size).toBe(0);
      if (!lock.held) throw new Error(lock.detail);
      lock.release();
      lock.release();
      expect(readdirSync(dir)).toEqual(['lock.db']);
    }
  });

  test('stays held while this process opens and closes other connections to the file', async () => {
    const dir = temporaryDirectory();
    const lock = takeProcessLock(dir, 'me');
    expect(takeProcessLock(dir, 'me again')).toMatchObject({ held: false, reason: 'locked' });
    const other = startChild('lock', dir);
    await until(() => other.lines.length > 0);
    expect(other.lines).toEqual(['locked: me']);
    await other.kill();
    if (lock.held) lock.release();
  });

  test('is unsupported where nobody could have it', () => {
    const dir = temporaryDirectory();
    writeFileSync(join(dir, 'lock.db'), 'this is no database, '.repeat(100));
    expect(takeProcessLock(dir, 'me')).toMatchObject({ held: false, reason: 'unsupported' });
    const missing = takeProcessLock(join(dir, 'missing'), 'me');
    expect(missing).toMatchObject({ held: false, reason: 'unsupported' });
    const disk = smallDisk(64);
    if (disk === undefined) return;
    mkdirSync(join(disk.dir, 'state'));
    disk.readOnly(true);
    const readOnly = takeProcessLock(join(disk.dir, 'state'), 'me');
    disk.unmount();
    expect(readOnly).toMatchObject({ held: false, reason: 'unsupported' });
  });
});
