/** The certificate the server shows: files that may be replaced while it runs, or a self-signed one. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { ServeOptions } from './options.ts';
import { type KeyPair, selfSignedPair } from './self-signed.ts';

const PAIR_NAME = 'kube-controller-manager';
const HEX = '0123456789abcdef';
const PRIVATE_MODE = 0o600;
const UNSPECIFIED = ['', '0.0.0.0', '::'];

/** Where the pair comes from; `read` gives the newest one, `changed` says if it differs. */
export class ServingCertificate {
  readonly #files: { readonly cert: string; readonly key: string } | undefined;
  #pair: KeyPair;
  #stamp: string;

  private constructor(pair: KeyPair, files?: { cert: string; key: string }) {
    this.#pair = pair;
    this.#files = files;
    this.#stamp = this.#stampNow();
  }

  /** Reads the files that the options name, or makes a self-signed pair. Throws naming the flag. */
  static async open(
    options: ServeOptions,
    clock: Clock,
    random: Random,
  ): Promise<ServingCertificate> {
    const { certFile: cert, keyFile: key, certDir } = options;
    if (cert !== '' || key !== '') {
      return new ServingCertificate(readPair(cert, key), { cert, key });
    }
    if (certDir === '') return new ServingCertificate(await makePair(options, clock, random));
    const files = {
      cert: join(certDir, `${PAIR_NAME}.crt`),
      key: join(certDir, `${PAIR_NAME}.key`),
    };
    if (!existsSync(files.cert) || !existsSync(files.key)) {
      const made = await makePair(options, clock, random);
      mkdirSync(certDir, { recursive: true });
      writeFileSync(files.key, made.keyPem, { mode: PRIVATE_MODE });
      writeFileSync(files.cert, made.certPem);
    }
    return new ServingCertificate(readPair(files.cert, files.key), files);
  }

  get pair(): KeyPair {
    return this.#pair;
  }

  /** Reads changed files again; true if the pair is another one now. Throws if it is unreadable. */
  refresh(): boolean {
    if (this.#files === undefined) return false;
    const stamp = this.#stampNow();
    if (stamp === this.#stamp) return false;
    this.#pair = readPair(this.#files.cert, this.#files.key);
    this.#stamp = stamp;
    return true;
  }

  #stampNow(): string {
    if (this.#files === undefined) return '';
    const parts = [this.#files.cert, this.#files.key].map((path) => {
      const { ino, mtimeMs, size } = statSync(path);
      return `${ino} ${mtimeMs} ${size}`;
    });
    return parts.join(' ');
  }
}

async function makePair(options: ServeOptions, clock: Clock, random: Random): Promise<KeyPair> {
  const hosts = ['localhost', '127.0.0.1'];
  const { bindAddress } = options;
  if (!UNSPECIFIED.includes(bindAddress) && !hosts.includes(bindAddress))
    hosts.unshift(bindAddress);
  return await selfSignedPair(hosts, clock.now(), `0${random.text(15, HEX)}`);
}

/** Reads a certificate and its key; `flag` names both in messages, else the two usual flags. */
export function readPair(cert: string, key: string, flag?: string): KeyPair {
  return {
    certPem: readPem(flag ?? '--tls-cert-file', cert),
    keyPem: readPem(flag ?? '--tls-private-key-file', key),
  };
}

function readPem(flag: string, path: string): string {
  if (path === '') throw new Error(`${flag} is missing: both certificate and key must be given`);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${flag}: cannot read ${path}: ${why}`, { cause });
  }
  if (!text.includes('-----BEGIN ')) {
    throw new Error(`${flag}: ${path} holds no PEM block; want a file with "-----BEGIN …-----"`);
  }
  return text;
}
