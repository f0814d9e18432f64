/** An SPDX 2.3 document (JSON) of what is inside a binary. */
import { createHash } from 'node:crypto';
import type { Part } from './bundled.ts';

export interface SpdxInput {
  readonly version: string;
  readonly commit: string;
  /** SOURCE_DATE_EPOCH. */
  readonly epoch: number;
  /** File name of the binary and its SHA-256 in hex. */
  readonly file: string;
  readonly sha256: string;
  readonly parts: readonly Part[];
}

/** SPDX identifiers hold letters, digits, dots and dashes; a number keeps them apart. */
function idOf({ name, version }: Part, at: number): string {
  return `SPDXRef-${at + 1}-${`${name}-${version}`.replace(/[^a-zA-Z0-9.-]+/g, '-')}`;
}

function packageOf(part: Part, at: number): object {
  const { name, version, license, sha512, purl } = part;
  return {
    SPDXID: idOf(part, at),
    name,
    versionInfo: version,
    downloadLocation: 'NOASSERTION',
    filesAnalyzed: false,
    licenseConcluded: 'NOASSERTION',
    licenseDeclared: license,
    copyrightText: 'NOASSERTION',
    ...(sha512 === undefined
      ? {}
      : { checksums: [{ algorithm: 'SHA512', checksumValue: sha512 }] }),
    ...(purl === undefined
      ? {}
      : {
          externalRefs: [
            {
              referenceCategory: 'PACKAGE-MANAGER',
              referenceType: 'purl',
              referenceLocator: purl,
            },
          ],
        }),
  };
}

/** The document; the same input gives the same text. */
export function spdxDocument(input: SpdxInput): object {
  const { version, commit, epoch, file, sha256, parts } = input;
  const root = 'SPDXRef-holdfast';
  const digest = createHash('sha256').update(`${file} ${sha256}`).digest('hex').slice(0, 32);
  return {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: file,
    documentNamespace: `https://holdfast.dev/spdx/${file}-${digest}`,
    creationInfo: {
      created: new Date(epoch * 1000).toISOString().replace(/\.\d+Z$/, 'Z'),
      creators: [`Tool: holdfast-release-${version}`],
    },
    packages: [
      {
        SPDXID: root,
        name: 'holdfast',
        versionInfo: version,
        packageFileName: file,
        downloadLocation: 'NOASSERTION',
        filesAnalyzed: false,
        checksums: [{ algorithm: 'SHA256', checksumValue: sha256 }],
        sourceInfo: `built from commit ${commit}`,
        licenseConcluded: 'Apache-2.0',
        licenseDeclared: 'Apache-2.0',
        copyrightText: 'NOASSERTION',
        primaryPackagePurpose: 'APPLICATION',
      },
      ...parts.map(packageOf),
    ],
    relationships: [
      {
        spdxElementId: 'SPDXRef-DOCUMENT',
        relationshipType: 'DESCRIBES',
        relatedSpdxElement: root,
      },
      ...parts.map((part, at) => ({
        spdxElementId: root,
        relationshipType: 'CONTAINS',
        relatedSpdxElement: idOf(part, at),
      })),
    ],
  };
}
