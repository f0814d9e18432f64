/** Authorities from a file that may be replaced while the process runs. */
import { readFileSync, statSync } from 'node:fs';
import { Authorities } from './trust.ts';

/** The authorities of one flag's file; none if the flag is not given. */
export class Bundle {
  readonly #flag: string;
  readonly #path: string;
  #stamp: string;
  #authorities: Authorities;

  /** Throws naming the flag if the file can't be used. */
  constructor(flag: string, path: string) {
    this.#flag = flag;
    this.#path = path;
    this.#stamp = stampOf(path);
    this.#authorities = new Authorities(readBundle(flag, path));
  }

  get given(): boolean {
    return this.#path !== '';
  }

  get authorities(): Authorities {
    return this.#authorities;
  }

  /** Reads the file again if it changed; true if so. Throws if it can't be used now. */
  refresh(): boolean {
    const stamp = stampOf(this.#path);
    if (stamp === this.#stamp) return false;
    this.#authorities = new Authorities(readBundle(this.#flag, this.#path));
    this.#stamp = stamp;
    return true;
  }
}

function stampOf(path: string): string {
  const stat = path === '' ? undefined : statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.ino} ${stat.mtimeMs} ${stat.size}`;
}

function readBundle(flag: string, path: string): string[] {
  if (path === '') return [];
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${flag}: cannot read ${path}: ${why}`, { cause });
  }
  if (!text.includes('-----BEGIN CERTIFICATE-----')) {
    throw new Error(
      `${flag}: ${path} holds no certificate; want PEM "-----BEGIN CERTIFICATE-----"`,
    );
  }
  return [text];
}
