import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeptSnapshots, keeping, referenceVersion } from './kept.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kept-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('how snapshots are used', () => {
  test('the environment decides', () => {
    expect(keeping({})).toBe('compare');
    expect(keeping({ HOLDFAST_REFERENCE: 'write' })).toBe('write');
    expect(keeping({ HOLDFAST_RIG_STORAGE: 'kine' })).toBe('live');
    expect(keeping({ HOLDFAST_RIG_SERVER: '1.35' })).toBe('live');
  });

  test('any other word is refused', () => {
    expect(() => keeping({ HOLDFAST_REFERENCE: 'yes' })).toThrow(
      'HOLDFAST_REFERENCE=yes: must be one of compare, write, live',
    );
  });
});

describe('a file of snapshots', () => {
  test('gives back what was kept, and drops what nobody plays any more', async () => {
    const snapshot = { pods: [{ name: 'web-', labels: { a: ['b'] }, none: null }], events: [] };
    const first = new KeptSnapshots('first', 'v1.36.3', folder);
    for (const name of ['old', 'kept']) first.keep(name, snapshot);
    await first.write(['kept', 'never played']);
    const again = new KeptSnapshots('first', 'v1.36.3', folder);
    expect(again.of('kept')).toEqual(snapshot);
    expect(again.of('old')).toBeUndefined();
    expect(again.of('never played')).toBeUndefined();
  });

  test('of another version of the reference counts for nothing', async () => {
    const older = new KeptSnapshots('older', 'v1.36.2', folder);
    older.keep('one', {});
    await older.write(['one']);
    expect(new KeptSnapshots('older', 'v1.36.3', folder).of('one')).toBeUndefined();
  });

  test('that is torn is named, with what mends it', () => {
    writeFileSync(join(folder, 'torn.json'), '{"version": "v1.3');
    expect(() => new KeptSnapshots('torn', 'v1.36.3', folder)).toThrow(
      /torn\.json can't be read, `make reference` writes it anew/,
    );
  });
});

test('the files here are of the reference that the rig builds', () => {
  const kept = join(import.meta.dir, 'reference');
  const versions = readdirSync(kept).map(
    (name) => JSON.parse(readFileSync(join(kept, name), 'utf8')).version,
  );
  expect(versions.length).toBeGreaterThan(10);
  expect(new Set(versions)).toEqual(new Set([referenceVersion()]));
});
