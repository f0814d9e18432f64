/** What is inside a binary: the npm packages of which bytes were bundled, and the runtime. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './command.ts';
import { type LockedPackage, lockedPackages } from './targets.ts';

/** A part of a binary. */
export interface Part {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression, or NOASSERTION. */
  readonly license: string;
  /** SHA-512 of the package as npm hands it out, in hex. */
  readonly sha512?: string;
  /** Package URL. */
  readonly purl?: string;
  /** Folder of the repository where it lies, for its licence. */
  readonly folder?: string;
}

interface Metafile {
  readonly outputs: Readonly<
    Record<string, { readonly inputs: Readonly<Record<string, { bytesInOutput: number }>> }>
  >;
}

/** Folders of the packages of which something was bundled, e.g. "node_modules/hono", sorted. */
export function bundledFolders({ outputs }: Metafile): string[] {
  const folders = new Set<string>();
  for (const { inputs } of Object.values(outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
      const folder = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
      if (folder !== undefined && bytesInOutput > 0) folders.add(folder);
    }
  }
  return [...folders].toSorted();
}

function hex(integrity: string | undefined): string | undefined {
  const base64 = /^sha512-(.+)$/.exec(integrity ?? '')?.[1];
  return base64 === undefined ? undefined : Buffer.from(base64, 'base64').toString('hex');
}

/** The address in a package URL: scopes are written with %40. */
function purlOf(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

/** The package of a folder, as package-lock.json and its own package.json describe it. */
export function partOf(folder: string, locked: Readonly<Record<string, LockedPackage>>): Part {
  const text = readFileSync(join(ROOT, folder, 'package.json'), 'utf8');
  const own = JSON.parse(text) as { name: string; version: string; license?: string };
  const entry = locked[folder];
  if (entry?.version !== own.version) {
    throw new Error(`${folder} is ${own.version}; package-lock.json has ${entry?.version}: npm ci`);
  }
  const sha512 = hex(entry.integrity);
  return {
    name: own.name,
    version: own.version,
    license: own.license ?? entry.license ?? 'NOASSERTION',
    purl: purlOf(own.name, own.version),
    ...(sha512 === undefined ? {} : { sha512 }),
    folder,
  };
}

/** Licences of what the runtime has inside, where its versions are known. */
const RUNTIME_LICENSES: Readonly<Record<string, string>> = {
  ares: 'MIT',
  boringssl: 'Apache-2.0',
  icu: 'Unicode-3.0',
  libarchive: 'BSD-2-Clause',
  libdeflate: 'MIT',
  llhttp: 'MIT',
  lolhtml: 'BSD-3-Clause',
  lshpack: 'MIT',
  mimalloc: 'MIT',
  picohttpparser: 'MIT',
  sqlite: 'blessing',
  tinycc: 'LGPL-2.1-or-later',
  usockets: 'Apache-2.0',
  uwebsockets: 'Apache-2.0',
  webkit: 'LGPL-2.1-or-later',
  zlib: 'Zlib',
  zstd: 'BSD-3-Clause',
};

/** Bun, pinned like any other package, and what it is made of as it says itself. */
export function runtimeParts(runtime: string, versions: Readonly<Record<string, string>>): Part[] {
  const locked = lockedPackages()[`node_modules/${runtime}`];
  if (locked === undefined) throw new Error(`package-lock.json has no ${runtime}`);
  const sha512 = hex(locked.integrity);
  const bun: Part = {
    name: runtime,
    version: locked.version,
    license: 'MIT',
    purl: purlOf(runtime, locked.version),
    ...(sha512 === undefined ? {} : { sha512 }),
  };
  const inside = Object.entries(RUNTIME_LICENSES).flatMap(([name, license]): Part[] => {
    const version = versions[name];
    return version === undefined ? [] : [{ name, version, license }];
  });
  return [bun, ...inside];
}

/** The npm packages of a binary, from the bundler's own account of it. */
export function bundledParts(metafile: string): Part[] {
  const locked = lockedPackages();
  const meta = JSON.parse(readFileSync(metafile, 'utf8')) as Metafile;
  return bundledFolders(meta).map((folder) => partOf(folder, locked));
}

const LICENSE_FILE = /^(licen[cs]e|copying|notice)([.-].*)?$/i;

/** Every licence text, by part, with a line for those that came without one. */
export function licenceTexts(own: string, parts: readonly Part[]): string {
  const rule = '='.repeat(78);
  const sections = parts.map(({ name, version, license, folder }) => {
    const at = folder === undefined ? '' : join(ROOT, folder);
    const files = at === '' || !existsSync(at) ? [] : readdirSync(at);
    const texts = files
      .filter((file) => LICENSE_FILE.test(file))
      .toSorted()
      .map((file) => readFileSync(join(at, file), 'utf8').trim());
    const body = texts.length > 0 ? texts.join('\n\n') : `${license}; it comes without a text.`;
    return `${name} ${version} (${license})\n\n${body}\n`;
  });
  return [`Holdfast (Apache-2.0)\n\n${own.trim()}\n`, ...sections].join(`\n${rule}\n\n`);
}
