/** Cipher suites: IANA's names, as flags have them, in OpenSSL's words. */

/** "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256" is "ECDHE-RSA-AES128-GCM-SHA256"; TLS 1.3 names stay. */
export function opensslCipher(name: string): string {
  const match = /^TLS_(.+)_WITH_(.+)$/.exec(name);
  if (match === null) return name;
  const [, exchange = '', cipher = ''] = match;
  const words = cipher
    .replace('CHACHA20_POLY1305_SHA256', 'CHACHA20_POLY1305')
    .replace(/AES_(128|256)_CBC/, 'AES$1')
    .replace(/AES_(128|256)/, 'AES$1')
    .replace('3DES_EDE_CBC', 'DES_CBC3')
    .replace('RC4_128', 'RC4');
  const prefix = exchange === 'RSA' ? '' : `${exchange}_`;
  return `${prefix}${words}`.replaceAll('_', '-');
}
