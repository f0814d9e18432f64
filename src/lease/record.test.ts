import { afterAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import {
  deadProcess,
  isOurs,
  parseRememberedTerm,
  parseRuntimeRecord,
  type RuntimeRecord,
  recordFile,
} from './record.ts';

const HERE = { bootId: 'boot-1', machineId: 'a'.repeat(32), hostName: 'box' };
const LEASE = { namespace: 'kube-system', name: 'kube-controller-manager' };
const RECORD: RuntimeRecord = {
  identity: 'box_1',
  leaseUid: 'lease-1',
  leaseTransitions: 7,
  renewTimes: ['2026-01-01T00:00:10.000000Z'],
  retryPeriodMs: 2_000,
  machine: HERE,
  lockId: '8:42',
};

const directory = mkdtempSync(join(tmpdir(), 'holdfast-record-'));
afterAll(() => rmSync(directory, { recursive: true }));

describe('the file', () => {
  const FILE = 'lease-kube-system-kube-controller-manager.json';

  test('comes back as written, in a private directory, with nothing beside it', () => {
    const home = join(directory, 'new', 'run');
    const file = recordFile(home, LEASE);
    expect(file.read()).toBeUndefined();
    file.write(RECORD);
    file.write({ ...RECORD, leaseTransitions: 8 });
    expect(file.read()).toEqual({ ...RECORD, leaseTransitions: 8 });
    expect(readdirSync(home)).toEqual([FILE]);
    expect(statSync(home).mode & 0o777).toBe(0o700);
    expect(statSync(join(home, FILE)).mode & 0o777).toBe(0o600);
  });

  test('of garbage, of too much or a directory is read as nothing', () => {
    const home = join(directory, 'garbage');
    mkdirSync(home);
    const path = join(home, FILE);
    writeFileSync(path, '{"identity":');
    expect(recordFile(home, LEASE).read()).toBeUndefined();
    writeFileSync(path, JSON.stringify({ ...RECORD, more: 'x'.repeat(20_000) }));
    expect(recordFile(home, LEASE).read()).toBeUndefined();
    rmSync(path);
    mkdirSync(path);
    expect(recordFile(home, LEASE).read()).toBeUndefined();
  });

  test('that cannot be written is an error', () => {
    const blocked = join(directory, 'blocked');
    writeFileSync(blocked, '');
    expect(() => recordFile(blocked, LEASE).write(RECORD)).toThrow();
  });
});

test('parsing takes any text and gives a whole record or nothing', () => {
  const texts = fc.oneof(
    fc.string(),
    fc.json(),
    fc
      .record(
        {
          identity: fc.oneof(fc.string(), fc.integer()),
          leaseUid: fc.string(),
          leaseTransitions: fc.oneof(fc.integer(), fc.constant(null)),
          retryPeriodMs: fc.integer(),
          renewTimes: fc.oneof(fc.array(fc.oneof(fc.string(), fc.integer())), fc.string()),
          machine: fc.oneof(fc.constant(HERE), fc.string(), fc.constant({ bootId: 1 })),
          lockId: fc.string(),
        },
        { requiredKeys: [] },
      )
      .map((value) => JSON.stringify(value)),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const record = parseRuntimeRecord(text);
      if (record === undefined) return;
      expect(parseRuntimeRecord(JSON.stringify(record))).toEqual(record);
      expect(parseRememberedTerm(text)).toBeDefined();
    }),
  );
  expect(parseRuntimeRecord(JSON.stringify(RECORD))).toEqual(RECORD);
});

describe('who is dead for certain', () => {
  const { renewTimes: _times, ...term } = RECORD;
  const REMEMBERED = { ...term, since: 3 };
  const READER = { machine: HERE, lockId: '8:42' };
  const REBOOT = { ...HERE, bootId: 'boot-2' };

  test('the writer of the record, on the same boot and under the same lock', () => {
    const dead = deadProcess(RECORD, undefined, READER);
    expect(dead).toMatchObject({
      identity: 'box_1',
      sameBoot: true,
      renewTimes: RECORD.renewTimes,
    });
  });

  test('the process of the remembered term, on another boot of this machine', () => {
    const dead = deadProcess(undefined, REMEMBERED, { ...READER, machine: REBOOT });
    expect(dead).toMatchObject({ identity: 'box_1', sameBoot: false, renewTimes: [] });
  });

  test('the writer of a record that outlived a reboot counts like a remembered term', () => {
    const dead = deadProcess(RECORD, undefined, { ...READER, machine: REBOOT });
    expect(dead).toMatchObject({ sameBoot: false, renewTimes: [] });
  });

  test.each([
    ['without a lock', RECORD, undefined, HERE, undefined],
    ['after a reboot without a lock', RECORD, REMEMBERED, REBOOT, undefined],
    ['under another lock', RECORD, undefined, HERE, '8:43'],
    [
      'after a reboot under another host name',
      RECORD,
      REMEMBERED,
      { ...REBOOT, hostName: 'copy' },
      '8:42',
    ],
    ['on another machine', RECORD, REMEMBERED, { ...HERE, machineId: 'b'.repeat(32) }, '8:42'],
    ['on a boot nobody knows', RECORD, REMEMBERED, { ...HERE, bootId: '' }, '8:42'],
    [
      'after a reboot of a machine without id',
      undefined,
      REMEMBERED,
      { ...REBOOT, machineId: '' },
      '8:42',
    ],
    ['with a remembered term of this very boot', undefined, REMEMBERED, HERE, '8:42'],
    ['with nothing left', undefined, undefined, HERE, '8:42'],
  ])('nobody %s', (_when, record, remembered, machine, lock) => {
    expect(deadProcess(record, remembered, { machine, lockId: lock })).toBeUndefined();
  });

  test('the writer of the record though a container came back under another host name', () => {
    const reader = { ...READER, machine: { ...HERE, hostName: 'pod-2' } };
    expect(deadProcess(RECORD, undefined, reader)).toMatchObject({ sameBoot: true });
  });

  test('a remembered term says since when nobody else has led; without that, since itself', () => {
    const since = (text: string) => parseRememberedTerm(text)?.since;
    expect(since(JSON.stringify(REMEMBERED))).toBe(3);
    expect(since(JSON.stringify(term))).toBe(RECORD.leaseTransitions);
    const ahead = { ...term, since: RECORD.leaseTransitions + 1 };
    expect(since(JSON.stringify(ahead))).toBe(RECORD.leaseTransitions);
  });

  test('a remembered term is ours on this boot and lock, or on this machine and host', () => {
    const ours = (machine: typeof HERE, lockId: string | undefined) =>
      isOurs(REMEMBERED, { machine, lockId });
    expect(ours(HERE, '8:42')).toBe(true);
    expect(ours({ ...HERE, hostName: 'pod-2' }, '8:42')).toBe(true);
    expect(ours(REBOOT, '8:43')).toBe(true);
    expect(ours({ ...HERE, hostName: 'pod-2' }, '8:43')).toBe(false);
    expect(ours({ ...HERE, hostName: 'pod-2' }, undefined)).toBe(false);
    expect(ours({ ...REBOOT, hostName: 'pod-2' }, '8:42')).toBe(false);
    expect(ours({ ...HERE, machineId: 'b'.repeat(32) }, '8:42')).toBe(false);
  });
});
