/** Names of TLS versions, cipher suites and curves as Go knows them. */
import { quote } from './go/quote.ts';

/** Cipher suites without known weaknesses, with two older spellings. */
export const PREFERRED_CIPHERS: readonly string[] = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA',
  'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA',
  'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
  'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305',
  'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256',
  'TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA',
  'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA',
  'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
  'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305',
  'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256',
];

/** Cipher suites that are accepted, but weak. */
export const INSECURE_CIPHERS: readonly string[] = [
  'TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256',
  'TLS_ECDHE_ECDSA_WITH_RC4_128_SHA',
  'TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA',
  'TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256',
  'TLS_ECDHE_RSA_WITH_RC4_128_SHA',
  'TLS_RSA_WITH_3DES_EDE_CBC_SHA',
  'TLS_RSA_WITH_AES_128_CBC_SHA',
  'TLS_RSA_WITH_AES_128_CBC_SHA256',
  'TLS_RSA_WITH_AES_128_GCM_SHA256',
  'TLS_RSA_WITH_AES_256_CBC_SHA',
  'TLS_RSA_WITH_AES_256_GCM_SHA384',
  'TLS_RSA_WITH_RC4_128_SHA',
];

/** Values of --tls-min-version. */
export const TLS_VERSIONS: Readonly<Record<string, 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3'>> = {
  VersionTLS10: 'TLSv1',
  VersionTLS11: 'TLSv1.1',
  VersionTLS12: 'TLSv1.2',
  VersionTLS13: 'TLSv1.3',
};

/** Go's CurveID numbers and the names that OpenSSL has for them. */
export const CURVES: Readonly<Record<number, string>> = {
  23: 'prime256v1',
  24: 'secp384r1',
  25: 'secp521r1',
  29: 'X25519',
  4587: 'SecP256r1MLKEM768',
  4588: 'X25519MLKEM768',
  4589: 'SecP384r1MLKEM1024',
};

const CURVE_MAX = 65_535;

/** Help of --tls-cipher-suites. */
export function cipherSuitesHelp(): string {
  return (
    'Comma-separated list of cipher suites for the server. ' +
    'If omitted, the default Go cipher suites will be used. \n' +
    `Preferred values: ${PREFERRED_CIPHERS.join(', ')}. \n` +
    `Insecure values: ${INSECURE_CIPHERS.join(', ')}.`
  );
}

/** Why a curve can't be used, in upstream's words. */
function curveProblem(curves: readonly number[]): string | undefined {
  for (const [at, id] of curves.entries()) {
    if (id <= 0 || id > CURVE_MAX) {
      return `curve preference ${id} is out of range (must be 1-${CURVE_MAX})`;
    }
    if (curves.indexOf(id) < at) return `duplicate curve preference ${id}`;
    if (CURVES[id] === undefined) {
      return `curve preference ${id} is not supported by the current Go version`;
    }
  }
  return undefined;
}

/** The first of the TLS settings that can't be used, in upstream's words; undefined: all fine. */
export function tlsProblem(
  ciphers: readonly string[],
  curves: readonly number[],
  minVersion: string,
): string | undefined {
  const known = new Set([...PREFERRED_CIPHERS, ...INSECURE_CIPHERS]);
  const stranger = ciphers.find((name) => !known.has(name));
  if (stranger !== undefined) return `Cipher suite ${stranger} not supported or doesn't exist`;
  const problem = curveProblem(curves);
  if (problem !== undefined) return problem;
  if (minVersion === '' || Object.hasOwn(TLS_VERSIONS, minVersion)) return undefined;
  return `unknown tls version ${quote(minVersion)}`;
}
