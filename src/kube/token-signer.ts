/** Signing legacy service account tokens: the key files that upstream takes, and its tokens. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  type SigningOptions,
  sign,
} from 'node:crypto';
import { goJson } from '../api/go-json.ts';
import type { TokenSigner } from './types.ts';

/** Blocks of a PEM file that may hold a private key, and how their bytes are read. */
const KEY_BLOCKS: Readonly<Record<string, 'sec1' | 'pkcs1' | 'pkcs8'>> = {
  'EC PRIVATE KEY': 'sec1',
  'RSA PRIVATE KEY': 'pkcs1',
  'PRIVATE KEY': 'pkcs8',
};
/** What comes after the version in each form: the runtime reads any form, whatever it is called. */
const TAG_AFTER_VERSION = { pkcs1: 0x02, sec1: 0x04, pkcs8: 0x30 } as const;
const VERSION_BYTES = 3;

/** A block; one with headers (an encrypted key) has none of its bytes taken for a key. */
const BLOCK = /-----BEGIN ([^-\r\n]+)-----[ \t]*\r?\n([^-]*)-----END \1-----/g;
const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/;

interface Algorithm {
  readonly name: string;
  readonly hash: string;
}

const CURVES: Readonly<Record<string, Algorithm>> = {
  prime256v1: { name: 'ES256', hash: 'sha256' },
  secp384r1: { name: 'ES384', hash: 'sha384' },
  secp521r1: { name: 'ES512', hash: 'sha512' },
};
const RSA: Algorithm = { name: 'RS256', hash: 'sha256' };
/** Curves whose keys Go can read. */
const READABLE_CURVES = [...Object.keys(CURVES), 'secp224r1'];
/** What Go calls the other keys it can read. */
const OTHER_KEYS: Readonly<Record<string, string>> = {
  ed25519: 'ed25519.PrivateKey',
  x25519: '*ecdh.PrivateKey',
};

/**
 * A signer with the first private key of a PEM text that can be read; other blocks are passed over.
 * Throws an Error with upstream's words if there is none, or if it signs no tokens.
 */
export function createTokenSigner(pem: string): TokenSigner {
  const key = readKey(pem);
  if (key === undefined) throw new Error('data does not contain a valid RSA or ECDSA private key');
  const { name, hash } = algorithmOf(key);
  const header = encode(goJson({ alg: name, kid: keyId(key) }));
  const options: SigningOptions & { key: KeyObject } =
    name === RSA.name ? { key } : { key, dsaEncoding: 'ieee-p1363' };
  return {
    sign(claims) {
      const signed = `${header}.${encode(goJson(claims))}`;
      return `${signed}.${sign(hash, Buffer.from(signed), options).toString('base64url')}`;
    },
  };
}

function readKey(pem: string): KeyObject | undefined {
  for (const [, label = '', body = ''] of pem.matchAll(BLOCK)) {
    const type = KEY_BLOCKS[label];
    if (type === undefined || !BASE64.test(body)) continue;
    const key = parseKey(Buffer.from(body, 'base64'), type);
    if (key !== undefined) return key;
  }
  return undefined;
}

function parseKey(der: Buffer, type: 'sec1' | 'pkcs1' | 'pkcs8'): KeyObject | undefined {
  const length = der[1] ?? 0;
  const content = 2 + (length < 0x80 ? 0 : length & 0x7f);
  if (der[content + VERSION_BYTES] !== TAG_AFTER_VERSION[type]) return undefined;
  try {
    const key = createPrivateKey({ key: der, format: 'der', type });
    return isReadable(key) ? key : undefined;
  } catch {
    return undefined;
  }
}

function isReadable({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  if (asymmetricKeyType === 'rsa' || Object.hasOwn(OTHER_KEYS, String(asymmetricKeyType)))
    return true;
  if (asymmetricKeyType !== 'ec') return false;
  return READABLE_CURVES.includes(asymmetricKeyDetails?.namedCurve ?? '');
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): Algorithm {
  if (asymmetricKeyType === 'rsa') return RSA;
  if (asymmetricKeyType === 'ec') {
    const curve = CURVES[asymmetricKeyDetails?.namedCurve ?? ''];
    if (curve !== undefined) return curve;
    throw new Error(
      'could not generate signer for ECDSA keypair: ' +
        'unknown private key curve, must be 256, 384, or 521',
    );
  }
  throw new Error(
    `unknown private key type ${OTHER_KEYS[String(asymmetricKeyType)]}, must be *rsa.PrivateKey, ` +
      '*ecdsa.PrivateKey, or jose.OpaqueSigner',
  );
}

/** By which the API server finds the public key: a digest of it. */
function keyId(key: KeyObject): string {
  const der = createPublicKey(key).export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(der).digest('base64url');
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64url');
}
