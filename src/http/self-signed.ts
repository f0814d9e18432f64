/** A self-signed serving certificate for localhost and the bind address, as upstream makes one. */
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';

const KEY = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
const RSA = { ...KEY, modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) };
const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;
const SERIAL_LENGTH = 16;

export interface KeyPair {
  readonly certPem: string;
  readonly keyPem: string;
}

/**
 * A pair that is valid from an hour before `now` for a year. `hosts` are DNS names and IP addresses;
 * `serial` are random hex digits.
 */
export async function selfSignedPair(
  hosts: readonly string[],
  now: number,
  serial: string,
): Promise<KeyPair> {
  const keys = (await crypto.subtle.generateKey(RSA, true, ['sign', 'verify'])) as CryptoKeyPair;
  const names = hosts.map((value) => ({
    type: isAddress(value) ? ('ip' as const) : ('dns' as const),
    value,
  }));
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serial.slice(0, SERIAL_LENGTH),
    name: [{ CN: [`${hosts[0] ?? 'localhost'}@${Math.floor(now / 1000)}`] }],
    notBefore: new Date(now - HOUR_MS),
    notAfter: new Date(now + YEAR_MS),
    signingAlgorithm: KEY,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.keyEncipherment |
          x509.KeyUsageFlags.digitalSignature |
          x509.KeyUsageFlags.keyCertSign,
        true,
      ),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(names),
    ],
  });
  const der = await crypto.subtle.exportKey('pkcs8', keys.privateKey);
  const lines = Buffer.from(der)
    .toString('base64')
    .replace(/(.{64})/g, '$1\n');
  return {
    certPem: `${certificate.toString('pem')}\n`,
    keyPem: `-----BEGIN PRIVATE KEY-----\n${lines.trimEnd()}\n-----END PRIVATE KEY-----\n`,
  };
}

function isAddress(host: string): boolean {
  return host.includes(':') || /^[0-9.]+$/.test(host);
}
