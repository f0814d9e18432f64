import { expect, test } from 'bun:test';
import { releaseProgramPages, untouchedMappings } from './program-pages.ts';

const mapping = (head: string, rss: number, anonymous: number) =>
  `${head}\nSize: 100 kB\nRss:    ${rss} kB\nPss: 1 kB\nAnonymous:      ${anonymous} kB\n`;

test('only mappings of the file that nobody writes or wrote to count', () => {
  const smaps = [
    mapping('00200000-01a39000 r--p 00000000 fe:00 53  /opt/hold fast', 8, 0),
    mapping('01a40000-0684a000 r-xp 01838000 fe:00 53  /opt/hold fast', 40, 0),
    mapping('0685f000-06867000 r--p 06656000 fe:00 53  /opt/hold fast', 32, 12),
    mapping('06867000-07848000 rw-p 0665e000 fe:00 53  /opt/hold fast', 80, 0),
    mapping('7f6985263000-7f69853b9000 r-xp 00026000 fe:00 32  /lib/libc.so.6', 9, 0),
    mapping('7f6944ef8000-7f6984ef8000 r--p 00000000 00:00 0 ', 7, 0),
  ].join('');
  expect(untouchedMappings(smaps, '/opt/hold fast')).toEqual([
    { start: 0x200000n, end: 0x1a39000n, residentBytes: 8 * 1024 },
    { start: 0x1a40000n, end: 0x684a000n, residentBytes: 40 * 1024 },
  ]);
});

test('the program runs on without its pages', () => {
  const before = JSON.stringify({ at: [1, 'two'] });
  expect(releaseProgramPages()).toBeGreaterThan(1024 * 1024);
  expect(JSON.parse(before)).toEqual({ at: [1, 'two'] });
  expect(new Intl.DateTimeFormat('en', { timeZone: 'UTC' }).format(0)).toBe('1/1/1970');
});
