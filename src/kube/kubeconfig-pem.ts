/** Certificates and keys in a kubeconfig: `x` names a file, `x-data` holds it in base64. */
import { resolve } from 'node:path';
import { ConfigError, whyUnreadable } from './config-error.ts';
import type { Section } from './fields.ts';
import { type PemSource, pemText } from './pem.ts';

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Reads one of the pair and checks its text with `problemOf`; undefined if neither is given. */
export function readPem(
  section: Section,
  field: string,
  directory: string,
  problemOf: (pem: string) => string | undefined,
): PemSource | undefined {
  const dataField = `${field}-data`;
  const path = section.text(field);
  const data = section.text(dataField);
  if (path !== undefined && data !== undefined) {
    throw section.wrong(dataField, `and ${field} are both given`, 'valid: only one of the two');
  }
  if (path !== undefined) return checkedFile(section, field, resolve(directory, path), problemOf);
  if (data === undefined) return undefined;
  const pem = decode(section, dataField, data);
  const problem = problemOf(pem);
  if (problem !== undefined) throw section.wrong(dataField, problem, 'valid: PEM in base64');
  return { pem };
}

function checkedFile(
  section: Section,
  field: string,
  file: string,
  problemOf: (pem: string) => string | undefined,
): PemSource {
  const valid = 'valid: the path of a readable PEM file';
  const source = { file };
  let problem: string | undefined;
  try {
    problem = problemOf(pemText(source));
  } catch (error) {
    const cause = error instanceof ConfigError ? error.cause : error;
    throw section.wrong(field, `is ${file}, which ${whyUnreadable(cause)}`, valid, cause);
  }
  if (problem !== undefined) throw section.wrong(field, `is ${file}, which ${problem}`, valid);
  return source;
}

function decode(section: Section, field: string, data: string): string {
  const compact = data.replace(/\s+/g, '');
  if (!BASE64.test(compact) || compact.length % 4 !== 0) {
    const hint = data.includes('-----BEGIN') ? ' (it is plain PEM)' : '';
    throw section.wrong(field, `is not base64${hint}`, 'valid: PEM in base64, in one line');
  }
  return Buffer.from(compact, 'base64').toString('utf8');
}
