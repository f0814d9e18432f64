/** Container image references: as much of their grammar as the pull policy depends on. */

const ALNUM = '[a-z0-9]+';
const PATH_PART = `${ALNUM}(?:(?:[._]|__|-+)${ALNUM})*`;
const HOST_PART = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])';
const DOMAIN = `(?:${HOST_PART}(?:\\.${HOST_PART})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`;
const TAG = '[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}';
const DIGEST = 'sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128}';
const REFERENCE = new RegExp(
  `^(?:${DOMAIN}/)?${PATH_PART}(?:/${PATH_PART})*(?::(?<tag>${TAG}))?(?<digest>@(?:${DIGEST}))?$`,
);
const IDENTIFIER = /^[a-f0-9]{64}$/;
const LATEST = 'latest';

/**
 * The tag of an image: "latest" if neither tag nor digest is given, "" for a digest alone and for
 * what is no image reference at all.
 */
export function imageTag(image: string): string {
  const parts = IDENTIFIER.test(image) ? null : REFERENCE.exec(image);
  if (parts === null) return '';
  return parts.groups?.tag ?? (parts.groups?.digest === undefined ? LATEST : '');
}

/** The pull policy of an image that says none: Always for "latest", else IfNotPresent. */
export function defaultPullPolicy(image: string): 'Always' | 'IfNotPresent' {
  return imageTag(image) === LATEST ? 'Always' : 'IfNotPresent';
}
