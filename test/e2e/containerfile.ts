/** What a Containerfile says as an image, where nothing is there that builds one. */
import { readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Image, ImageFile } from './images.ts';

/** An image without its name. */
export type Unnamed = Omit<Image, 'tag'>;

/** What the lines refer to. */
export interface Context {
  /** Values of ARG, as --build-arg gives them. */
  readonly args: Readonly<Record<string, string>>;
  /** The image behind FROM. */
  base(name: string): Unnamed;
  /** A file of the folder that is built in. */
  file(name: string): Uint8Array;
}

/** Where the kernel looks for the loader of programs that use glibc. */
const LOADER =
  process.arch === 'arm64' ? 'lib/ld-linux-aarch64.so.1' : 'lib64/ld-linux-x86-64.so.2';
/** The libraries of glibc that Debian's package libc6 has for programs. */
const GLIBC = 'c dl m pthread resolv rt nss_dns nss_files';

/**
 * Stands in for distroless's base-nossl, which is Debian's libc6 and some files of the system: nothing
 * else that a program could link against. The C library is the one that runs this.
 */
export function glibcBase(): Unnamed {
  const used = readFileSync('/proc/self/maps', 'utf8');
  const libc = /\s(\/\S+\/libc\.so\.6)$/m.exec(used)?.[1];
  if (libc === undefined) throw new Error('this process runs without glibc');
  const folder = dirname(libc);
  const names = GLIBC.split(' ').map((name) => new Bun.Glob(`lib${name}.so.[0-9]`));
  const libraries = names.flatMap((glob) => [...glob.scanSync({ cwd: folder })]);
  const files: ImageFile[] = libraries.map((name) => ({
    path: `${folder.slice(1)}/${name}`,
    content: readFileSync(`${folder}/${name}`),
    mode: 0o755,
  }));
  const system: ImageFile[] = [
    { path: LOADER, content: readFileSync(`/${LOADER}`), mode: 0o755 },
    { path: 'etc/passwd', content: 'root:x:0:0:root:/root:/sbin/nologin\n' },
    { path: 'etc/nsswitch.conf', content: 'hosts: files dns\n' },
    { path: 'tmp/.keep', content: '' },
  ];
  const env = ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'];
  return { layers: [[...files, ...system]], entrypoint: [], env };
}

/** The binary and the image's name in the command that a Containerfile's first lines give. */
export function buildCommand(text: string): { program: string; tag: string } {
  const command = /^# +podman build .*--build-arg BINARY=(\S+) -t (\S+) DIR$/m.exec(text);
  const [, program, name] = command ?? [];
  if (program === undefined) throw new Error('the Containerfile does not say how it is built');
  // podman puts this before a name without a registry.
  return { program, tag: `localhost/${name}` };
}

/** The image of a Containerfile. Throws at a line that it doesn't know. */
export function imageOf(text: string, context: Context): Unnamed {
  let image: Unnamed = { layers: [], entrypoint: [] };
  const args = new Map<string, string>();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  for (const line of lines) {
    const given = line.replace(/\$\{(\w+)\}/g, (_, name: string) => args.get(name) ?? '');
    const [word = '', ...rest] = given.split(' ');
    const [first = '', second = '', third = ''] = rest;
    if (word === 'FROM' && rest.length === 1) image = context.base(first);
    else if (word === 'ARG' && rest.length === 1) {
      const [name = '', byDefault = ''] = first.split('=');
      args.set(name, context.args[name] ?? byDefault);
    } else if (word === 'COPY' && rest.length === 3 && /^--chmod=0[0-7]{3}$/.test(first)) {
      const mode = Number.parseInt(first.slice('--chmod='.length), 8);
      const path = third.endsWith('/') ? third + basename(second) : third;
      const layer = [{ path: path.slice(1), content: context.file(second), mode }];
      image = { ...image, layers: [...image.layers, layer] };
    } else if (word === 'ENTRYPOINT') {
      image = { ...image, entrypoint: JSON.parse(rest.join(' ')) as string[] };
    } else throw new Error(`no rule for the line of the Containerfile: ${line}`);
  }
  return image;
}
