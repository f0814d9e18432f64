/** Client certificates: whether they chain to an authority that is trusted, and whom they name. */
import { createHash, X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import 'reflect-metadata';
import { X509Certificate as PeculiarCertificate } from '@peculiar/x509';
import { CERTIFICATE_CHAIN_MAX } from '../runtime/limits.ts';
import type { User } from './options.ts';

/** Attribute of a subject that carries the user's UID. */
const UID_ATTRIBUTE = '1.3.6.1.4.1.57683.2';
/** Under it a user carries which credential was shown. */
const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id';

/** Certificates of authorities, as objects and as PEM. */
export class Authorities {
  readonly pems: readonly string[];
  readonly #certificates: readonly X509Certificate[];

  /** `bundles` are PEM texts, each with any number of certificates. Throws on a bad one. */
  constructor(bundles: readonly string[]) {
    this.pems = bundles.flatMap(splitPem);
    this.#certificates = this.pems.map((pem) => new X509Certificate(pem));
  }

  get empty(): boolean {
    return this.#certificates.length === 0;
  }

  /**
   * True if the first certificate chains to one of these authorities, and all are valid `now` and
   * may be used for clients.
   */
  vouchFor(chain: readonly X509Certificate[], now: number): boolean {
    const leaf = chain[0];
    if (leaf === undefined) return false;
    const isGood = (one: X509Certificate): boolean => allowsClients(one) && validAt(one, now);
    let current = leaf;
    for (let depth = 0; depth < CERTIFICATE_CHAIN_MAX; depth++) {
      if (!isGood(current)) return false;
      const roots = this.#certificates.filter((ca) => issued(ca, current));
      if (roots.length > 0) return roots.some(isGood);
      const between = chain.find(
        (other) => other !== current && other.ca && issued(other, current),
      );
      if (between === undefined) return false;
      current = between;
    }
    return false;
  }
}

function splitPem(bundle: string): string[] {
  return bundle.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
}

function issued(issuer: X509Certificate, subject: X509Certificate): boolean {
  return subject.issuer === issuer.subject && subject.verify(issuer.publicKey);
}

function validAt(certificate: X509Certificate, now: number): boolean {
  return Date.parse(certificate.validFrom) <= now && now <= Date.parse(certificate.validTo);
}

/** Extended key usage clientAuth, or none at all (then any use is allowed). */
function allowsClients(certificate: X509Certificate): boolean {
  const usages = certificate.keyUsage as readonly string[] | undefined;
  if (usages === undefined || usages.length === 0) return true;
  return usages.includes('1.3.6.1.5.5.7.3.2') || usages.includes('2.5.29.37.0');
}

/** The certificates that the peer of a TLS connection showed, leaf first; empty if none. */
export function peerChain(socket: TLSSocket): X509Certificate[] {
  const chain: X509Certificate[] = [];
  let peer = socket.getPeerCertificate(true);
  while (peer?.raw !== undefined && chain.length < CERTIFICATE_CHAIN_MAX) {
    chain.push(new X509Certificate(peer.raw));
    if (peer.issuerCertificate === undefined || peer.issuerCertificate === peer) break;
    peer = peer.issuerCertificate;
  }
  return chain;
}

/** The name a certificate gives, the last of several; "" if it gives none. */
export function commonName(certificate: X509Certificate): string {
  return new PeculiarCertificate(certificate.raw).subjectName.getField('CN').at(-1) ?? '';
}

/**
 * The user a certificate names: CN is the name, each O a group. Undefined if it has several UIDs
 * or an empty one, which upstream refuses.
 */
export function userOf(certificate: X509Certificate): User | undefined {
  const subject = new PeculiarCertificate(certificate.raw).subjectName;
  const uids = subject.getField(UID_ATTRIBUTE);
  if (uids.length > 1 || uids[0] === '') return undefined;
  const digest = createHash('sha256').update(certificate.raw).digest('hex');
  return {
    name: commonName(certificate),
    groups: subject.getField('O'),
    uid: uids[0] ?? '',
    extra: { [CREDENTIAL_ID]: [`X509SHA256=${digest}`] },
  };
}
