/** Certificates and keys of a rig: authorities, user and server certificates, signing key pairs. */
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';

/** A certificate with its private key (PKCS #8), both as PEM. */
export interface Pair {
  readonly certPem: string;
  readonly keyPem: string;
}

/** Who a certificate is for. `hosts` makes it a server certificate as well. */
export interface Subject {
  readonly commonName: string;
  readonly groups?: readonly string[];
  /** DNS names and IP addresses. */
  readonly hosts?: readonly string[];
}

const EC = { name: 'ECDSA', namedCurve: 'P-256' };
const SIGNING = { name: 'ECDSA', hash: 'SHA-256' };
const RSA = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  publicExponent: new Uint8Array([1, 0, 1]),
  modulusLength: 2048,
};
const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

let lastSerial = 0;

function serial(): string {
  lastSerial += 1;
  return (BigInt(Date.now()) * 65_536n + BigInt(lastSerial)).toString(16).padStart(16, '0');
}

function validity(): { notBefore: Date; notAfter: Date } {
  const now = Date.now();
  return { notBefore: new Date(now - HOUR_MS), notAfter: new Date(now + 10 * YEAR_MS) };
}

function pem(label: string, der: ArrayBuffer): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

async function privatePem(key: CryptoKey): Promise<string> {
  return pem('PRIVATE KEY', await crypto.subtle.exportKey('pkcs8', key));
}

function isAddress(host: string): boolean {
  return host.includes(':') || /^[0-9.]+$/.test(host);
}

/** A certificate authority of the rig. */
export class Authority implements Pair {
  private constructor(
    readonly certPem: string,
    readonly keyPem: string,
    private readonly certificate: x509.X509Certificate,
    private readonly key: CryptoKey,
  ) {}

  /** Makes a new self-signed authority, valid for ten years. */
  static async create(commonName: string): Promise<Authority> {
    const keys = (await crypto.subtle.generateKey(EC, true, ['sign', 'verify'])) as CryptoKeyPair;
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      serialNumber: serial(),
      name: [{ CN: [commonName] }],
      ...validity(),
      signingAlgorithm: SIGNING,
      keys,
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(
          x509.KeyUsageFlags.keyCertSign |
            x509.KeyUsageFlags.cRLSign |
            x509.KeyUsageFlags.digitalSignature,
          true,
        ),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      ],
    });
    const keyPem = await privatePem(keys.privateKey);
    return new Authority(`${certificate.toString('pem')}\n`, keyPem, certificate, keys.privateKey);
  }

  /** Issues a certificate that may be used by a client and, when it has hosts, by a server. */
  async issue(subject: Subject): Promise<Pair> {
    const keys = (await crypto.subtle.generateKey(EC, true, ['sign', 'verify'])) as CryptoKeyPair;
    const hosts = subject.hosts ?? [];
    const groups = (subject.groups ?? []).map((group) => ({ O: [group] }));
    const usages = [x509.ExtendedKeyUsage.clientAuth];
    if (hosts.length > 0) usages.push(x509.ExtendedKeyUsage.serverAuth);
    const extensions: x509.Extension[] = [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension(usages),
      await x509.AuthorityKeyIdentifierExtension.create(this.certificate),
    ];
    if (hosts.length > 0) {
      const names = hosts.map((value) => ({
        type: isAddress(value) ? ('ip' as const) : ('dns' as const),
        value,
      }));
      extensions.push(new x509.SubjectAlternativeNameExtension(names));
    }
    const certificate = await x509.X509CertificateGenerator.create({
      serialNumber: serial(),
      subject: [...groups, { CN: [subject.commonName] }],
      issuer: this.certificate.subjectName.toJSON(),
      ...validity(),
      signingAlgorithm: SIGNING,
      publicKey: keys.publicKey,
      signingKey: this.key,
      extensions,
    });
    const keyPem = await privatePem(keys.privateKey);
    return { certPem: `${certificate.toString('pem')}\n`, keyPem };
  }
}

/** A key pair for service-account tokens, as PEM: RSA 2048 as kubeadm makes it, or ECDSA P-256. */
export async function serviceAccountKeys(
  kind: 'rsa' | 'ecdsa' = 'rsa',
): Promise<{ privatePem: string; publicPem: string }> {
  const algorithm = kind === 'rsa' ? RSA : EC;
  const keys = (await crypto.subtle.generateKey(algorithm, true, [
    'sign',
    'verify',
  ])) as CryptoKeyPair;
  return {
    privatePem: await privatePem(keys.privateKey),
    publicPem: pem('PUBLIC KEY', await crypto.subtle.exportKey('spki', keys.publicKey)),
  };
}
