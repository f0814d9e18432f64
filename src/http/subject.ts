/** Whom a certificate names. Loaded when the first one is shown: the library takes some MiB. */
import type { X509Certificate } from 'node:crypto';
import 'reflect-metadata';
import { X509Certificate as PeculiarCertificate } from '@peculiar/x509';
import type { User } from './options.ts';

/** Attribute of a subject that carries the user's UID. */
const UID_ATTRIBUTE = '1.3.6.1.4.1.57683.2';

/** The user a certificate names: CN is the name, each O a group. */
export function subjectUser(certificate: X509Certificate): User {
  const subject = new PeculiarCertificate(certificate.raw).subjectName;
  return {
    name: subject.getField('CN')[0] ?? '',
    groups: subject.getField('O'),
    uid: subject.getField(UID_ATTRIBUTE)[0] ?? '',
    extra: {},
  };
}
