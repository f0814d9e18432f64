/** Certificates, keys and tokens in use; those in files are read again when they change. */
import { stat } from 'node:fs/promises';
import type { Clock } from '../runtime/clock.ts';
import { CREDENTIAL_CHECK_INTERVAL_MS } from '../runtime/limits.ts';
import type { Logger } from '../runtime/log.ts';
import type { ClientConfig } from './client-config.ts';
import { ConfigError } from './config-error.ts';
import { certificatesProblem, isPair, keyProblem, type PemSource, pemText } from './pem.ts';

/** What is needed to open connections, as PEM text. Replaced whole when a file changes. */
export interface Material {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** Bearer token, from the file if there is one. */
  readonly token?: string;
}

export interface MaterialDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** Called for each look at a CA file, with upstream's result and reason. */
  caReloaded(result: 'success' | 'failure', reason: string): void;
}

/** The material of one configuration. */
export class RotatingMaterial {
  readonly #config: ClientConfig;
  readonly #deps: MaterialDeps;
  readonly #files: readonly string[];
  #current: Material;
  #signature = '';
  #checkedAt: number;
  #checking: Promise<void> | undefined;
  #complaint = '';

  /** Reads everything once. Throws ConfigError if something can't be used. */
  constructor(config: ClientConfig, deps: MaterialDeps) {
    this.#config = config;
    this.#deps = deps;
    this.#files = filesOf(config);
    this.#current = readMaterial(config);
    // The signature is unknown yet: the first check reads the files once more.
    this.#checkedAt = deps.clock.monotonic();
  }

  /** What to use now, without looking at the disk. */
  get current(): Material {
    return this.#current;
  }

  /** True if the files were looked at too long ago. */
  get isDue(): boolean {
    const age = this.#deps.clock.monotonic() - this.#checkedAt;
    return this.#files.length > 0 && age >= CREDENTIAL_CHECK_INTERVAL_MS;
  }

  /** Looks at the files if that is due; keeps the old material if the new can't be used. */
  async refresh(): Promise<Material> {
    if (this.isDue) {
      this.#checking ??= this.#check().finally(() => {
        this.#checking = undefined;
      });
      await this.#checking;
    }
    return this.#current;
  }

  /** The server refused our credentials: look at the files before the next request. */
  expire(): void {
    this.#checkedAt = Number.NEGATIVE_INFINITY;
  }

  async #check(): Promise<void> {
    const signature = (await Promise.all(this.#files.map(signatureOf))).join('\n');
    this.#checkedAt = this.#deps.clock.monotonic();
    const before = this.#current;
    if (signature !== this.#signature) this.#reload(signature);
    if (this.#config.ca !== undefined && 'file' in this.#config.ca) {
      const problem = this.#complaint === '' ? undefined : caProblem(this.#config.ca);
      if (problem !== undefined) this.#deps.caReloaded('failure', problem);
      else this.#deps.caReloaded('success', isSameCa(before, this.#current));
    }
    if (this.#current.cert !== before.cert || this.#current.ca !== before.ca) {
      this.#deps.log.info('certificates changed on disk, new connections use them');
    }
  }

  #reload(signature: string): void {
    try {
      this.#current = readMaterial(this.#config);
      this.#signature = signature;
      this.#complaint = '';
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      if (this.#complaint !== error.message) {
        this.#deps.log.error('changed credentials are not usable, the old ones stay', error);
      }
      this.#complaint = error.message;
    }
  }
}

function isSameCa(before: Material, after: Material): string {
  return before.ca === after.ca ? 'unchanged' : 'updated';
}

/** Upstream's reason why a CA file could not be loaded, undefined if it is sound. */
function caProblem(ca: PemSource): string | undefined {
  try {
    const pem = pemText(ca);
    if (pem === '') return 'empty';
    return certificatesProblem(pem) === undefined ? undefined : 'ca_parse_error';
  } catch {
    // Whatever keeps us from reading it has been logged by the reload.
    return 'read_error';
  }
}

function filesOf(config: ClientConfig): readonly string[] {
  const { ca, clientCertificate: pair, tokenFile } = config;
  const sources = [ca, pair?.cert, pair?.key].filter((source) => source !== undefined);
  const files = sources.flatMap((source) => ('file' in source ? [source.file] : []));
  return tokenFile === undefined ? files : [...files, tokenFile];
}

/** Changes whenever the file's content may have: mounted secrets are replaced as whole folders. */
async function signatureOf(file: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeMs } = await stat(file);
    return `${dev}:${ino}:${size}:${mtimeMs}`;
  } catch {
    // Not there at this moment: reading it says why.
    return 'unreadable';
  }
}

function readMaterial(config: ClientConfig): Material {
  const ca = readChecked(config.ca, certificatesProblem);
  const cert = readChecked(config.clientCertificate?.cert, certificatesProblem);
  const key = readChecked(config.clientCertificate?.key, keyProblem);
  if (cert !== undefined && key !== undefined && !isPair(cert, key)) {
    throw new ConfigError(`${config.source}: the client key does not belong to the certificate`);
  }
  return { ca, cert, key, token: readToken(config) };
}

function readChecked(
  source: PemSource | undefined,
  problemOf: (pem: string) => string | undefined,
): string | undefined {
  if (source === undefined) return undefined;
  const pem = pemText(source);
  const problem = problemOf(pem);
  if (problem === undefined) return pem;
  throw new ConfigError(`${'file' in source ? source.file : 'kubeconfig data'} ${problem}`);
}

function readToken(config: ClientConfig): string | undefined {
  if (config.tokenFile === undefined) return config.token;
  const token = pemText({ file: config.tokenFile }).trim();
  if (token === '') throw new ConfigError(`${config.tokenFile} is empty, not a bearer token`);
  return token;
}
