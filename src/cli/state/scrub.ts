/** Taking out of a bundle whatever looks like a secret: error texts are anybody's. */

const GONE = '(taken out)';

/** What a secret looks like, and what is left of it. */
const LOOKS: readonly (readonly [RegExp, string])[] = [
  [
    /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]{0,20000}?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
    GONE,
  ],
  [/\beyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*/g, GONE],
  [/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${GONE}`],
  [/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@:]+:[^\s/@]+@/gi, `$1${GONE}@`],
  [
    /\b([\w-]*(?:password|passwd|secret|token|api-?key)["']?\s*[=:]\s*["']?)[^\s"',;&]{4,}/gi,
    `$1${GONE}`,
  ],
];

/** The same data with every text scrubbed; keys of objects stay. */
export function scrubbed(data: unknown): unknown {
  if (typeof data === 'string') {
    return LOOKS.reduce((text, [look, left]) => text.replace(look, left), data);
  }
  if (Array.isArray(data)) return data.map(scrubbed);
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, scrubbed(value)]));
}
