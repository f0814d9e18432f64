import { describe, expect, test } from 'bun:test';
import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  verify,
} from 'node:crypto';
import { createTokenSigner } from './token-signer.ts';

const NONE = 'data does not contain a valid RSA or ECDSA private key';
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const curve = (namedCurve: string): KeyObject =>
  generateKeyPairSync('ec', { namedCurve }).privateKey;
const p256 = curve('P-256');

/** The runtime can't make one: the bytes of a fresh PKCS#8 key. */
const SECP256K1 = `-----BEGIN PRIVATE KEY-----\n${
  'MIGEAgEAMBAGByqGSM49AgEGBSuBBAAKBG0wawIBAQQgqzhNw3KGpy7L6xMvpPSE+CAiNJPdgG0CatMjHJbZn9GhRA' +
  'NCAAT1ekSE5rdbmpS4JXkQv/Tf2hzovBNhnHWtiVUGL7QDK3sZijfvvlj5J5GyXpeMq/tIfDBSoqz5cGca4cCsFPgC'
}\n-----END PRIVATE KEY-----\n`;

function pem(key: KeyObject, type: 'pkcs1' | 'pkcs8' | 'sec1' = 'pkcs8'): string {
  return key.export({ type, format: 'pem' }).toString();
}

function parts(token: string): { header: object; claims: object; text: string; bytes: Buffer } {
  const [header = '', claims = '', signature = ''] = token.split('.');
  const read = (part: string): string => Buffer.from(part, 'base64url').toString();
  return {
    header: JSON.parse(read(header)),
    claims: JSON.parse(read(claims)),
    text: `${header}.${claims}`,
    bytes: Buffer.from(signature, 'base64url'),
  };
}

function keyId(key: KeyObject): string {
  const der = createPublicKey(key).export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(der).digest('base64url');
}

describe('a token', () => {
  test.each<[string, KeyObject, string]>([
    ['RS256', rsa, 'sha256'],
    ['ES256', p256, 'sha256'],
    ['ES384', curve('P-384'), 'sha384'],
    ['ES512', curve('P-521'), 'sha512'],
  ])('is signed with %s, as its header says', (alg, key, hash) => {
    const token = createTokenSigner(pem(key)).sign({ sub: 'me', iss: 'kubernetes/serviceaccount' });
    const { header, text, bytes } = parts(token);
    expect(header).toEqual({ alg, kid: keyId(key) });
    const dsaEncoding = 'ieee-p1363' as const;
    expect(verify(hash, Buffer.from(text), { key: createPublicKey(key), dsaEncoding }, bytes)).toBe(
      true,
    );
    expect(token).not.toContain('=');
  });

  test('has its keys sorted and no blanks, and with RSA the same bytes each time', () => {
    const signer = createTokenSigner(pem(rsa));
    const token = signer.sign({ sub: 'b', iss: 'a<' });
    const [header = '', claims = ''] = token.split('.');
    expect(Buffer.from(header, 'base64url').toString()).toBe(
      `{"alg":"RS256","kid":"${keyId(rsa)}"}`,
    );
    expect(Buffer.from(claims, 'base64url').toString()).toBe('{"iss":"a\\u003c","sub":"b"}');
    expect(signer.sign({ iss: 'a<', sub: 'b' })).toBe(token);
  });
});

describe('a key file', () => {
  const kid = (text: string): unknown =>
    (parts(createTokenSigner(text).sign({})).header as { kid?: string }).kid;
  const parameters =
    '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n';
  const broken = '-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n';

  test.each<[string, string, KeyObject]>([
    ['PKCS#1', pem(rsa, 'pkcs1'), rsa],
    ['PKCS#8', pem(rsa), rsa],
    ['SEC 1', pem(p256, 'sec1'), p256],
    ['PKCS#8 of a curve', pem(p256), p256],
    ['parameters before the key', parameters + pem(p256, 'sec1'), p256],
    ['text around it and line ends of Windows', `a key\n${pem(rsa)}`.replaceAll('\n', '\r\n'), rsa],
    ['a broken block before the key', broken + pem(rsa, 'pkcs1'), rsa],
    ['two keys', pem(p256, 'sec1') + pem(rsa), p256],
  ])('may hold %s', (_, text, key) => {
    expect(kid(text)).toBe(keyId(key));
  });

  const encrypted = rsa
    .export({ type: 'pkcs1', format: 'pem', cipher: 'aes-128-cbc', passphrase: 'x' })
    .toString();
  const publicKey = createPublicKey(rsa).export({ type: 'spki', format: 'pem' }).toString();
  const ed25519 = generateKeyPairSync('ed25519').privateKey;
  test.each<[string, string, string]>([
    ['nothing', '', NONE],
    ['no PEM', 'not a key', NONE],
    ['a public key', publicKey, NONE],
    ['an encrypted key', encrypted, NONE],
    ['a key that is called another', pem(rsa, 'pkcs1').replaceAll('RSA', 'EC'), NONE],
    ['PKCS#8 that is called PKCS#1', pem(rsa).replaceAll('PRIVATE', 'RSA PRIVATE'), NONE],
    ['a key of a curve that Go lacks', SECP256K1, NONE],
    [
      'a key of a curve without an algorithm',
      pem(curve('secp224r1')),
      'could not generate signer for ECDSA keypair: unknown private key curve, must be 256, 384, or 521',
    ],
    [
      'a key of another kind',
      pem(ed25519),
      'unknown private key type ed25519.PrivateKey, must be *rsa.PrivateKey, *ecdsa.PrivateKey, ' +
        'or jose.OpaqueSigner',
    ],
  ])('with %s is refused', (_, text, message) => {
    expect(() => createTokenSigner(text)).toThrow(message);
  });
});
