/** The machines a release is for, and Bun's runtime for each. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { command, ROOT } from './command.ts';
import type { DebArchitecture } from './deb.ts';

export interface Target {
  /** Ends the name of the binary: "linux-amd64". */
  readonly name: string;
  /** Bun's own word for it. */
  readonly target: string;
  /** npm package that holds the runtime. */
  readonly runtime: string;
  /** Absent: no Debian package. */
  readonly deb?: DebArchitecture;
}

export const TARGETS: readonly Target[] = [
  {
    name: 'linux-amd64',
    target: 'bun-linux-x64',
    runtime: '@oven/bun-linux-x64',
    deb: 'amd64',
  },
  {
    name: 'linux-arm64',
    target: 'bun-linux-arm64',
    runtime: '@oven/bun-linux-aarch64',
    deb: 'arm64',
  },
  {
    name: 'linux-amd64-musl',
    target: 'bun-linux-x64-musl',
    runtime: '@oven/bun-linux-x64-musl',
  },
  {
    name: 'linux-arm64-musl',
    target: 'bun-linux-arm64-musl',
    runtime: '@oven/bun-linux-aarch64-musl',
  },
];

/** One package as package-lock.json pins it. */
export interface LockedPackage {
  readonly version: string;
  /** "sha512-" and base64. */
  readonly integrity?: string;
  readonly license?: string;
}

/** package-lock.json's packages, by their place ("node_modules/hono"). */
export function lockedPackages(): Readonly<Record<string, LockedPackage>> {
  const text = readFileSync(join(ROOT, 'package-lock.json'), 'utf8');
  return (JSON.parse(text) as { packages: Record<string, LockedPackage> }).packages;
}

/** Throws unless the bytes are those that the lock file pins. */
export function verify(bytes: Uint8Array, integrity: string | undefined, what: string): void {
  const found = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  if (found === integrity) return;
  throw new Error(`${what}: found ${found}; package-lock.json has ${integrity ?? 'none'}`);
}

/**
 * Path of the runtime's executable, fetched once through npm and checked against package-lock.json
 * each time.
 */
export async function fetchRuntime(name: string, cache: string): Promise<string> {
  const locked = lockedPackages()[`node_modules/${name}`];
  if (locked === undefined) throw new Error(`package-lock.json has no ${name}`);
  const { version, integrity } = locked;
  const file = `${name.slice(1).replace('/', '-')}-${version}.tgz`;
  const archive = join(cache, file);
  mkdirSync(cache, { recursive: true });
  if (!existsSync(archive)) {
    await command(['npm', 'pack', `${name}@${version}`, '--silent', `--pack-destination=${cache}`]);
  }
  verify(readFileSync(archive), integrity, file);
  const folder = archive.replace(/\.tgz$/, '');
  mkdirSync(folder, { recursive: true });
  await command(['tar', '-xzf', archive, '-C', folder, '--strip-components=1']);
  return join(folder, 'bin', 'bun');
}
