/**
 * Token Secrets that were found to have all they need, remembered by version and digest of their
 * data: caches don't hold the data itself, so any other Secret has to be read to know.
 */
import { fnv1a128 } from '../../api/hash.ts';
import type { CachedSecret } from '../../api/secret.ts';
import type { Secret } from '../../api/types/index.ts';
import type { ControllerContext, ControllerMemory } from '../../runtime/controller.ts';

interface Found {
  /** Of the CA bundle it was compared with. */
  readonly bundle: string;
  readonly version: string;
  /** "" as long as only the version is known. */
  readonly digest: string;
}

/** Which Secrets need no look. */
export class RightSecrets {
  readonly #bundle: string;
  readonly #memory: ControllerMemory<Found>;

  constructor({ memory }: Pick<ControllerContext, 'memory'>, rootCaPem: string) {
    this.#bundle = fnv1a128(new TextEncoder().encode(rootCaPem));
    this.#memory = memory<Found>('right-secrets', { encode, decode });
  }

  /** True if this Secret was right with just this data, under the same CA bundle. */
  has(key: string, { metadata, dataDigest = '' }: CachedSecret): boolean {
    const found = this.#memory.get(key, metadata.uid);
    if (found === undefined || found.bundle !== this.#bundle) return false;
    if (found.digest !== '' && found.digest === dataDigest) return true;
    if (found.version !== metadata.resourceVersion) return false;
    if (found.digest !== dataDigest) {
      this.#memory.set(key, metadata.uid, { ...found, digest: dataDigest });
    }
    return true;
  }

  /** It is right in this version. */
  add(key: string, { metadata }: Pick<Secret, 'metadata'>, digest = ''): void {
    const { uid, resourceVersion: version } = metadata;
    this.#memory.set(key, uid, { bundle: this.#bundle, version, digest });
  }

  /** It is gone. */
  delete(key: string): void {
    this.#memory.delete(key);
  }
}

function encode({ bundle, version, digest }: Found): string {
  return [bundle, version, digest].join(' ');
}

function decode(text: string): Found {
  const [bundle, version, digest] = text.split(' ');
  if (bundle === undefined || version === undefined || digest === undefined) {
    throw new Error(`"${text}" is no bundle, version and digest`);
  }
  return { bundle, version, digest };
}
