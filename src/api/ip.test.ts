import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { parseIp } from './ip.ts';

describe('parseIp', () => {
  test.each([
    ['10.0.0.1', 'IPv4', '10.0.0.1'],
    ['010.000.0.001', 'IPv4', '10.0.0.1'],
    ['255.255.255.255', 'IPv4', '255.255.255.255'],
    ['::', 'IPv6', '::'],
    ['::1', 'IPv6', '::1'],
    ['fd00::', 'IPv6', 'fd00::'],
    ['FD00:0:0:0:0:0:0:1', 'IPv6', 'fd00::1'],
    ['2001:db8:0:0:1:0:0:1', 'IPv6', '2001:db8::1:0:0:1'],
    ['2001:db8:0:1:1:1:1:1', 'IPv6', '2001:db8:0:1:1:1:1:1'],
    ['0:0:1:0:0:0:1:0', 'IPv6', '0:0:1::1:0'],
    ['64:ff9b::192.0.2.33', 'IPv6', '64:ff9b::c000:221'],
    ['::ffff:10.1.2.3', 'IPv4', '10.1.2.3'],
    ['::ffff:0a01:0203', 'IPv4', '10.1.2.3'],
  ])('%s is %s %s', (text, family, written) => {
    expect(parseIp(text) as object).toEqual({ family, text: written });
  });

  test.each([
    '',
    'web',
    '1.2.3',
    '1.2.3.4.5',
    '1.2.3.256',
    '1.2.3.',
    '1.2.3.-1',
    ' 1.2.3.4',
    ':',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7::8:9',
    '12345::',
    'fe80::1%eth0',
    '1.2.3.4::',
    '::1.2.3',
    'g::',
  ])('%p is no address', (text) => {
    expect(parseIp(text)).toBeUndefined();
  });

  test('what it writes reads as itself and has lost no group', () => {
    const group = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff }));
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        const ip = parseIp(groups.map((one) => one.toString(16).padStart(4, '0')).join(':'));
        expect(parseIp(ip?.text ?? '')).toEqual(ip);
        if (ip?.family === 'IPv6') expect(expanded(ip.text)).toEqual(groups);
        else expect(groups.slice(0, 6)).toEqual([0, 0, 0, 0, 0, 0xffff]);
      }),
    );
  });
});

function expanded(text: string): number[] {
  const [left = [], right = []] = text
    .split('::')
    .map((half) => half.split(':').filter((one) => one !== ''));
  const zeros = Array<string>(8 - left.length - right.length).fill('0');
  return [...left, ...zeros, ...right].map((one) => Number.parseInt(one, 16));
}
