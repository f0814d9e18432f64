/** Container images without a registry: docker-archive tars of a few files, written by hand. */
import { readFileSync, writeFileSync } from 'node:fs';

/** One file of an image: content with its mode, or a link to another path. */
export type ImageFile =
  | { readonly path: string; readonly content: Uint8Array | string; readonly mode?: number }
  | { readonly path: string; readonly link: string };

/** An image; each layer lies over the one before. */
export interface Image {
  readonly tag: string;
  readonly layers: readonly (readonly ImageFile[])[];
  readonly entrypoint: readonly string[];
  /** Default: PATH=/bin. */
  readonly env?: readonly string[];
}

const BLOCK = 512;
const CHECKSUM_AT = 148;
const BUSYBOX = '/bin/busybox';
const APPLETS = 'sh cat echo grep httpd kill ls mkdir ps rm sleep test touch true false wget wc';

function field(text: string, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  if (bytes.write(text, 'latin1') < text.length) throw new Error(`too long for a tar: ${text}`);
  return bytes;
}

function octal(value: number, length: number): Buffer {
  return field(value.toString(8).padStart(length - 1, '0'), length);
}

function header(path: string, type: '0' | '2' | '5', mode: number, size: number, link = '') {
  const block = Buffer.alloc(BLOCK);
  const fields = [
    field(path, 100),
    octal(mode, 8),
    octal(0, 8),
    octal(0, 8),
    octal(size, 12),
    octal(0, 12),
    field(' '.repeat(8), 8),
    field(type, 1),
    field(link, 100),
    field('ustar\x0000', 8),
  ];
  Buffer.concat(fields).copy(block);
  const sum = block.reduce((total, byte) => total + byte, 0);
  field(`${sum.toString(8).padStart(6, '0')}\0 `, 8).copy(block, CHECKSUM_AT);
  return block;
}

function parents(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => `${parts.slice(0, index + 1).join('/')}/`);
}

/** A tar (ustar) of files and links owned by root, with the folders they lie in; times are zero. */
export function tar(files: readonly ImageFile[]): Buffer {
  const made = new Set<string>();
  const blocks: Buffer[] = [];
  for (const file of files) {
    for (const folder of parents(file.path)) {
      if (!made.has(folder)) blocks.push(header(folder, '5', 0o755, 0));
      made.add(folder);
    }
    if ('link' in file) {
      blocks.push(header(file.path, '2', 0o777, 0, file.link));
      continue;
    }
    const content = Buffer.from(file.content);
    const rest = (BLOCK - (content.length % BLOCK)) % BLOCK;
    blocks.push(header(file.path, '0', file.mode ?? 0o644, content.length));
    blocks.push(content, Buffer.alloc(rest));
  }
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
}

function sha256(bytes: Uint8Array | string): string {
  return new Bun.CryptoHasher('sha256').update(bytes).digest('hex');
}

/** Writes an image as a tar that `ctr images import` and `docker load` read. */
export function writeImage(file: string, image: Image): void {
  const layers = image.layers.map(tar);
  const config = JSON.stringify({
    architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
    os: 'linux',
    config: { Entrypoint: image.entrypoint, Env: image.env ?? ['PATH=/bin'] },
    rootfs: { type: 'layers', diff_ids: layers.map((layer) => `sha256:${sha256(layer)}`) },
  });
  const named = layers.map((content) => ({ path: `${sha256(content)}/layer.tar`, content }));
  const manifest = [
    {
      Config: `${sha256(config)}.json`,
      RepoTags: [image.tag],
      Layers: named.map(({ path }) => path),
    },
  ];
  const files: ImageFile[] = [
    { path: manifest[0]?.Config ?? '', content: config },
    ...named,
    { path: 'manifest.json', content: JSON.stringify(manifest) },
  ];
  writeFileSync(file, tar(files));
}

/** Layer of a shell and the tools that the tests' containers use. */
export function busyboxLayer(): ImageFile[] {
  const links = APPLETS.split(' ').map((name) => ({ path: `bin/${name}`, link: 'busybox' }));
  const users = 'root:x:0:0:root:/:/bin/sh\n';
  return [
    { path: 'bin/busybox', content: readFileSync(BUSYBOX), mode: 0o755 },
    ...links,
    { path: 'etc/passwd', content: users },
    { path: 'tmp/.keep', content: '' },
  ];
}
