/** Client certificates: whether they chain to an authority that is trusted, and whom they name. */
import { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import 'reflect-metadata';
import { X509Certificate as PeculiarCertificate } from '@peculiar/x509';
import { CERTIFICATE_CHAIN_MAX } from '../runtime/limits.ts';
import type { User } from './options.ts';

/** Attribute of a subject that carries the user's UID. */
const UID_ATTRIBUTE = '1.3.6.1.4.1.57683.2';

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

  /** True if the first certificate chains to one of these authorities and all are valid `now`. */
  vouchFor(chain: readonly X509Certificate[], now: number): boolean {
    const leaf = chain[0];
    if (leaf === undefined || !allowsClients(leaf)) return false;
    let current = leaf;
    for (let depth = 0; depth < CERTIFICATE_CHAIN_MAX; depth++) {
      if (!validAt(current, now)) return false;
      const root = this.#certificates.find((ca) => issued(ca, current));
      if (root !== undefined) return validAt(root, now);
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

/** The user a certificate names: CN is the name, each O a group. */
export function userOf(certificate: X509Certificate): User {
  const subject = new PeculiarCertificate(certificate.raw).subjectName;
  return {
    name: subject.getField('CN')[0] ?? '',
    groups: subject.getField('O'),
    uid: subject.getField(UID_ATTRIBUTE)[0] ?? '',
    extra: {},
  };
}
