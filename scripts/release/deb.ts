/** Builds the Debian package with dpkg-deb: the binary, the unit, the configuration, what to read. */
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { command, ROOT } from './command.ts';

export type DebArchitecture = 'amd64' | 'arm64';

export interface DebOptions {
  readonly binary: string;
  readonly architecture: DebArchitecture;
  readonly version: string;
  /** Path of the package to write. */
  readonly out: string;
  /** SOURCE_DATE_EPOCH: every file gets this time. */
  readonly epoch: number;
  /** dpkg-deb's -Z; every dpkg reads gzip, "none" is quick. */
  readonly compression: 'gzip' | 'none';
  /** Further files for /usr/share/doc/holdfast, by name. */
  readonly documents?: Readonly<Record<string, string>>;
}

const PACKAGING = join(ROOT, 'packaging');
const DOC = 'usr/share/doc/holdfast';
const CONFIGURATION = 'etc/holdfast/config.yaml';
const SHELLS = {
  bash: 'usr/share/bash-completion/completions/holdfast',
  zsh: 'usr/share/zsh/vendor-completions/_holdfast',
  fish: 'usr/share/fish/vendor_completions.d/holdfast.fish',
};
/** The oldest glibc that has every symbol which the runtime asks for. */
const GLIBC = '2.17';

/** The package's description of itself; `kib` is its size when installed. */
export function controlText(version: string, architecture: DebArchitecture, kib: number): string {
  return [
    'Package: holdfast',
    `Version: ${version}`,
    `Architecture: ${architecture}`,
    'Section: admin',
    'Priority: optional',
    `Installed-Size: ${kib}`,
    `Depends: libc6 (>= ${GLIBC})`,
    'Recommends: systemd, ca-certificates',
    'Maintainer: The Holdfast maintainers <maintainers@holdfast.invalid>',
    'Description: kube-controller-manager that remembers across restarts',
    ' Takes the flags, the names, the Lease and the endpoints of',
    ' kube-controller-manager 1.36 and keeps what it knows in one SQLite file, so',
    ' that it carries on after a crash, an upgrade or a power cut.',
    ' .',
    ' The service is installed and not started.',
    '',
  ].join('\n');
}

/** How it is installed, takes over and gives back stands only there; its links lead beside it. */
function readmeInPackage(): string {
  const text = readFileSync(join(ROOT, 'README.md'), 'utf8');
  return text.replaceAll(/\]\((?:docs|packaging)\//g, '](');
}

function put(root: string, from: string, to: string, mode = 0o644): void {
  const target = join(root, to);
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(from, target);
  chmodSync(target, mode);
}

function write(root: string, to: string, text: string): void {
  const target = join(root, to);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
}

async function fill(root: string, options: DebOptions): Promise<void> {
  put(root, options.binary, 'usr/bin/holdfast', 0o755);
  const unit = 'lib/systemd/system/holdfast.service';
  put(root, join(PACKAGING, 'systemd', 'holdfast.service'), `usr/${unit}`);
  put(root, join(PACKAGING, 'config.yaml'), CONFIGURATION, 0o600);
  for (const name of ['operating.md', 'state.md', 'differences.md']) {
    put(root, join(ROOT, 'docs', name), `${DOC}/${name}`);
  }
  write(root, `${DOC}/README.md`, readmeInPackage());
  put(root, join(ROOT, 'LICENSE'), `${DOC}/copyright`);
  for (const folder of ['kubernetes', 'monitoring']) {
    cpSync(join(PACKAGING, folder), join(root, DOC, folder), { recursive: true });
  }
  for (const [name, text] of Object.entries(options.documents ?? {})) {
    write(root, `${DOC}/${name}`, text);
  }
  for (const [shell, to] of Object.entries(SHELLS)) {
    const words = [process.execPath, join(ROOT, 'src', 'main.ts'), 'completion', shell];
    write(root, to, await command(words));
  }
  const kib = Math.ceil(paths(root).reduce((sum, path) => sum + statSync(path).size, 0) / 1024);
  write(root, 'DEBIAN/control', controlText(options.version, options.architecture, kib));
  write(root, 'DEBIAN/conffiles', `/${CONFIGURATION}\n`);
  for (const script of ['postinst', 'prerm', 'postrm']) {
    put(root, join(PACKAGING, 'deb', script), `DEBIAN/${script}`, 0o755);
  }
  write(root, 'DEBIAN/md5sums', sums(root));
}

/** Every file and folder below, the deepest first. */
function paths(folder: string): string[] {
  const below = readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? [...paths(path), path] : [path];
  });
  return below.toSorted();
}

function sums(root: string): string {
  const lines = paths(root).flatMap((path) => {
    const name = path.slice(root.length + 1);
    if (name.startsWith('DEBIAN') || !statSync(path).isFile() || name === CONFIGURATION) return [];
    return [`${new Bun.CryptoHasher('md5').update(readFileSync(path)).digest('hex')}  ${name}\n`];
  });
  return lines.join('');
}

/** Modes and times that depend on nothing but the sources. */
function settle(root: string, epoch: number): void {
  for (const path of paths(root)) {
    const { mode } = statSync(path);
    if (statSync(path).isDirectory()) chmodSync(path, 0o755);
    else if ((mode & 0o777) !== 0o600) chmodSync(path, (mode & 0o100) === 0 ? 0o644 : 0o755);
    utimesSync(path, epoch, epoch);
  }
  chmodSync(root, 0o755);
  utimesSync(root, epoch, epoch);
}

/** Writes the package. Throws with what dpkg-deb printed. */
export async function buildDeb(options: DebOptions): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'holdfast-deb-'));
  try {
    await fill(root, options);
    settle(root, options.epoch);
    await command(
      ['dpkg-deb', '--root-owner-group', `-Z${options.compression}`, '--build', root, options.out],
      { SOURCE_DATE_EPOCH: String(options.epoch) },
    );
  } finally {
    rmSync(root, { recursive: true });
  }
}
