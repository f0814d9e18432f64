/** Certificates and keys as PEM text: where they come from, and whether they are usable. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ConfigError, whyUnreadable } from './config-error.ts';

/** PEM text, or the absolute path of the file that holds it (read again when it changes). */
export type PemSource = { readonly pem: string } | { readonly file: string };

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
const KEY = /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/;

/** The text of a source. Throws ConfigError naming the file if it can't be read. */
export function pemText(source: PemSource): string {
  if ('pem' in source) return source.pem;
  try {
    return readFileSync(source.file, 'utf8');
  } catch (error) {
    throw new ConfigError(`${source.file} ${whyUnreadable(error)}`, error);
  }
}

/** What is wrong with a bundle of certificates, or undefined. */
export function certificatesProblem(pem: string): string | undefined {
  const blocks = pem.match(CERTIFICATE);
  if (blocks === null) return 'holds no "-----BEGIN CERTIFICATE-----" block';
  for (const [index, block] of blocks.entries()) {
    const problem = problemOf(() => new X509Certificate(block));
    if (problem !== undefined)
      return `holds a broken certificate (number ${index + 1}: ${problem})`;
  }
  return undefined;
}

/** What is wrong with a private key, or undefined. */
export function keyProblem(pem: string): string | undefined {
  if (!KEY.test(pem)) return 'holds no "-----BEGIN ... PRIVATE KEY-----" block';
  const problem = problemOf(() => createPrivateKey(pem));
  return problem === undefined ? undefined : `holds a broken or encrypted key (${problem})`;
}

/** True if the key belongs to the first certificate of the bundle. Both must be sound. */
export function isPair(certificates: string, key: string): boolean {
  return new X509Certificate(certificates).checkPrivateKey(createPrivateKey(key));
}

function problemOf(attempt: () => unknown): string | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
