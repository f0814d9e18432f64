/** What is handed out in packaging/ is understood by those it is written for. */
import { describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { buildDeb, controlText } from '../../scripts/release/deb.ts';
import { parseOptions } from '../../src/options/index.ts';
import { buildCommand, imageOf } from '../e2e/containerfile.ts';
import { REPOSITORY } from '../rig/index.ts';

const PACKAGING = join(REPOSITORY, 'packaging');
const UNIT = join(PACKAGING, 'systemd', 'holdfast.service');
/** systemd-analyze's exposure, in tenths. */
const EXPOSURE_MOST = 29;

interface StaticPod {
  spec: {
    hostNetwork: boolean;
    containers: {
      image: string;
      command: string[];
      volumeMounts: { name: string; mountPath: string; readOnly?: boolean }[];
    }[];
    volumes: { name: string; hostPath?: { path: string } }[];
  };
}

const read = (...path: string[]): string => readFileSync(join(PACKAGING, ...path), 'utf8');

function options(...argv: string[]) {
  const result = parseOptions(argv, {});
  if (result.kind === 'options') return result.options;
  throw new Error(JSON.stringify(result));
}

function can(tool: string, ...words: string[]): boolean {
  if (Bun.which(tool) !== null && Bun.spawnSync([tool, ...words]).success) return true;
  console.log(`skipped: ${tool} ${words.join(' ')} is not there`);
  return false;
}

test('config.yaml is accepted, also with what it has in comments', () => {
  const given = options(`--config=${join(PACKAGING, 'config.yaml')}`);
  expect(given.generic.useServiceAccountCredentials).toBe(true);
  expect(given.controllers.list).toEqual(['*']);
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-packaging-'));
  const beside = read('config.yaml')
    .replace("  controllers: ['*']\n", '')
    .replace(/^ {2}# (controllers|leader-elect-resource-name|secure-port)/gm, '  $1');
  writeFileSync(join(dir, 'config.yaml'), beside);
  const { leaderElection, serving } = options(`--config=${join(dir, 'config.yaml')}`);
  expect([leaderElection.resourceName, serving.port]).toEqual(['holdfast', 10267]);
  rmSync(dir, { recursive: true });
});

test('the static pod gives flags that are accepted, and mounts what they name', () => {
  const pod = parse(read('kubernetes', 'static-pod.yaml')) as StaticPod;
  const [container] = pod.spec.containers;
  const [program, ...flags] = container?.command ?? [];
  expect(program).toBe('holdfast');
  const { state } = options(...flags);
  const mounts = container?.volumeMounts ?? [];
  const writable = mounts.filter(({ readOnly }) => readOnly !== true).map((one) => one.mountPath);
  expect(writable).toEqual([state.dir, state.runtimeDir, '/tmp']);
  const files = flags.flatMap((flag) => /=(\/.*)$/.exec(flag)?.[1] ?? []);
  const isMounted = (file: string) =>
    mounts.some(({ mountPath }) => file === mountPath || file.startsWith(`${mountPath}/`));
  expect(files.filter((file) => !isMounted(file))).toEqual([]);
  for (const { name, mountPath } of mounts) {
    const from = pod.spec.volumes.find((volume) => volume.name === name);
    if (name !== 'tmp') expect(from?.hostPath?.path).toBe(mountPath);
  }
  expect(pod.spec.hostNetwork).toBe(true);
});

test('the Containerfile makes the image that the static pod names', () => {
  const pod = parse(read('kubernetes', 'static-pod.yaml')) as StaticPod;
  const text = read('kubernetes', 'Containerfile');
  const { program, tag } = buildCommand(text);
  expect(program).toBe(`holdfast-${manifest.version}-linux-amd64`);
  expect(tag).toBe(pod.spec.containers[0]?.image ?? '');
  const content = new Uint8Array();
  const image = imageOf(text, {
    args: { BINARY: program },
    base: () => ({ layers: [], entrypoint: [] }),
    file: (name) => (name === program ? content : Buffer.from(name)),
  });
  const layers = [[{ path: 'usr/bin/holdfast', content, mode: 0o755 }]];
  expect(image).toEqual({ layers, entrypoint: ['/usr/bin/holdfast'] });
});

test('config.yaml and the static pod give the same flags', () => {
  const file = parse(read('config.yaml')) as { flags: Record<string, unknown> };
  const pod = parse(read('kubernetes', 'static-pod.yaml')) as StaticPod;
  const given = new Set(
    (pod.spec.containers[0]?.command ?? []).flatMap((flag) => /^--([^=]+)/.exec(flag)?.[1] ?? []),
  );
  const missing = Object.keys(file.flags).filter((name) => !given.has(name));
  expect(missing).toEqual(['v', 'controllers']);
});

test('the documents of rbac.yaml are whole', () => {
  const documents = parseAllDocuments(read('kubernetes', 'rbac.yaml'));
  expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
  expect(documents).toHaveLength(4);
});

describe('the unit', () => {
  test.skipIf(!can('systemd-analyze', '--version'))('is understood by systemd', () => {
    const dir = mkdtempSync(join(tmpdir(), 'holdfast-unit-'));
    const program = join(dir, 'holdfast');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
    const unit = readFileSync(UNIT, 'utf8').replace('/usr/bin/holdfast', program);
    writeFileSync(join(dir, 'holdfast.service'), unit);
    const run = Bun.spawnSync(['systemd-analyze', 'verify', join(dir, 'holdfast.service')]);
    expect(run.stderr.toString()).toBe('');
    expect(run.exitCode).toBe(0);
    rmSync(dir, { recursive: true });
  });

  test.skipIf(!can('systemd-analyze', 'security', '--offline=true', UNIT))(
    `exposes less than ${EXPOSURE_MOST / 10} of 10`,
    () => {
      const words = ['security', '--offline=true', `--threshold=${EXPOSURE_MOST}`, UNIT];
      const run = Bun.spawnSync(['systemd-analyze', ...words]);
      expect(run.stdout.toString()).toContain('Overall exposure level for holdfast.service');
      expect(run.exitCode).toBe(0);
    },
  );
});

describe('the Debian package', () => {
  test('names its version and architecture', () => {
    const lines = controlText('1.2.3', 'arm64', 100).split('\n');
    expect(lines).toContain('Version: 1.2.3');
    expect(lines).toContain('Architecture: arm64');
    expect(lines).toContain('Installed-Size: 100');
  });

  test.skipIf(!can('dpkg-deb', '--version'))(
    'holds what it should, twice the same',
    async () => {
      const dir = mkdtempSync(join(tmpdir(), 'holdfast-package-'));
      const binary = join(dir, 'binary');
      writeFileSync(binary, 'a program');
      const build = async (out: string): Promise<Buffer> => {
        const documents = { 'licences.txt': 'MIT\n' };
        const options = { binary, architecture: 'amd64', version: '1.2.3', documents } as const;
        await buildDeb({ ...options, out, epoch: 1_700_000_000, compression: 'gzip' });
        return readFileSync(out);
      };
      const deb = join(dir, 'a.deb');
      expect((await build(deb)).equals(await build(join(dir, 'b.deb')))).toBe(true);
      const listed = Bun.spawnSync(['dpkg-deb', '-c', deb], { env: { ...process.env, TZ: 'UTC' } });
      const lines = listed.stdout.toString().split('\n');
      const line = (path: string) => lines.find((text) => text.endsWith(` ./${path}`)) ?? '';
      const at = '2023-11-14 22:13';
      expect(line('usr/bin/holdfast')).toMatch(RegExp(`^-rwxr-xr-x root/root +9 ${at}`));
      expect(line('etc/holdfast/config.yaml')).toMatch(RegExp(`^-rw------- root/root .* ${at}`));
      expect(line('usr/lib/systemd/system/holdfast.service')).toStartWith('-rw-r--r-- root/root');
      expect(line('usr/share/doc/holdfast/licences.txt')).toStartWith('-rw-r--r-- root/root');
      expect(line('usr/share/doc/holdfast/kubernetes/rbac.yaml')).not.toBe('');
      expect(line('usr/share/doc/holdfast/README.md')).toStartWith('-rw-r--r-- root/root');
      expect(line('usr/share/bash-completion/completions/holdfast')).not.toBe('');
      const conffiles = Bun.spawnSync(['dpkg-deb', '-I', deb, 'conffiles']).stdout.toString();
      expect(conffiles).toBe('/etc/holdfast/config.yaml\n');
      rmSync(dir, { recursive: true });
    },
    60_000,
  );
});
