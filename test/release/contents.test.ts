/** What a release says about its contents. */
import { describe, expect, test } from 'bun:test';
import {
  bundledFolders,
  licenceTexts,
  type Part,
  partOf,
  runtimeParts,
} from '../../scripts/release/bundled.ts';
import { spdxDocument } from '../../scripts/release/spdx.ts';
import { lockedPackages, TARGETS, verify } from '../../scripts/release/targets.ts';

interface Spdx {
  SPDXID: string;
  spdxVersion: string;
  creationInfo: { created: string };
  packages: {
    SPDXID: string;
    name: string;
    checksums?: { algorithm: string; checksumValue: string }[];
    externalRefs?: { referenceLocator: string }[];
  }[];
  relationships: { spdxElementId: string; relationshipType: string; relatedSpdxElement: string }[];
}

const locked = lockedPackages();
const RUNTIME = '@oven/bun-linux-x64';
const parts: readonly Part[] = [
  partOf('node_modules/hono', locked),
  partOf('node_modules/@peculiar/x509', locked),
  ...runtimeParts(RUNTIME, process.versions as Record<string, string>),
];

test('counts a package as inside when bytes of it were written, nested ones on their own', () => {
  const input = (path: string, bytesInOutput: number) => [path, { bytesInOutput }] as const;
  const inputs = Object.fromEntries([
    input('src/main.ts', 10),
    input('node_modules/hono/dist/index.js', 5),
    input('node_modules/hono/dist/hono.js', 5),
    input('node_modules/@peculiar/x509/build/x.js', 1),
    input('node_modules/tsyringe/node_modules/tslib/tslib.js', 1),
    input('node_modules/shaken-off/index.js', 0),
  ]);
  expect(bundledFolders({ outputs: { 'main.js': { inputs } } })).toEqual([
    'node_modules/@peculiar/x509',
    'node_modules/hono',
    'node_modules/tsyringe/node_modules/tslib',
  ]);
});

describe('the SPDX document', () => {
  const given = { version: '1.2.3', commit: 'c0ffee', epoch: 1_700_000_000, parts };
  const make = (): Spdx =>
    spdxDocument({ ...given, file: 'holdfast-1.2.3-linux-amd64', sha256: 'ab' }) as Spdx;

  test('names each part once and ties it to the binary', () => {
    const document = make();
    expect(document.spdxVersion).toBe('SPDX-2.3');
    expect(document.creationInfo.created).toBe('2023-11-14T22:13:20Z');
    const ids = document.packages.map(({ SPDXID }) => SPDXID);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^SPDXRef-[A-Za-z0-9.-]+$/);
    const [root, ...inside] = ids;
    expect(document.relationships.map((one) => one.relatedSpdxElement)).toEqual([
      root ?? '',
      ...inside,
    ]);
    const contains = document.relationships.filter((one) => one.relationshipType === 'CONTAINS');
    expect(contains.every(({ spdxElementId }) => spdxElementId === root)).toBe(true);
    expect(contains).toHaveLength(parts.length);
  });

  test('has npm packages with their checksum and address, the runtime and its SQLite', () => {
    const { packages } = make();
    const x509 = packages.find(({ name }) => name === '@peculiar/x509');
    const { integrity = '', version } = locked['node_modules/@peculiar/x509'] ?? { version: '' };
    const hex = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
    expect(x509?.checksums).toEqual([{ algorithm: 'SHA512', checksumValue: hex }]);
    expect(x509?.externalRefs?.[0]?.referenceLocator).toBe(`pkg:npm/%40peculiar/x509@${version}`);
    const names = packages.map(({ name }) => name);
    for (const name of [RUNTIME, 'sqlite', 'webkit', 'boringssl']) expect(names).toContain(name);
  });

  test('is the same for the same binary', () => {
    expect(JSON.stringify(make())).toBe(JSON.stringify(make()));
  });
});

test('the licences have a text for each part, or its name', () => {
  const text = licenceTexts('Apache License', parts);
  expect(text).toStartWith('Holdfast (Apache-2.0)\n\nApache License\n');
  expect(text).toMatch(/\nhono [\d.]+ \(MIT\)\n\nMIT License\n/);
  expect(text).toContain(`sqlite ${process.versions.sqlite} (blessing)\n\nblessing; it comes`);
});

test('a package that is not the pinned one is refused', () => {
  expect(() => verify(new Uint8Array([1]), 'sha512-AAAA', 'bun.tgz')).toThrow(
    /^bun\.tgz: found sha512-.+; package-lock\.json has sha512-AAAA$/,
  );
  expect(() => partOf('node_modules/hono', {})).toThrow('package-lock.json has undefined');
});

test('each target has a runtime of the pinned version with a checksum', () => {
  for (const { runtime } of TARGETS) {
    const { version, integrity } = locked[`node_modules/${runtime}`] ?? {};
    expect([runtime, version]).toEqual([runtime, Bun.version]);
    expect(integrity).toMatch(/^sha512-/);
  }
});
