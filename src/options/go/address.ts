/** IP addresses as Go's net.ParseIP reads and IP.String writes them. */
import { isIPv4, isIPv6 } from 'node:net';

const MAPPED = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

function dotted(high: string, low: string): string {
  const words = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return words.map((word) => `${word >> 8}.${word & 0xff}`).join('.');
}

/** The address in its shortest form, or undefined if the text is none; zones are refused. */
export function parseAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const shortest = new URL(`http://[${text}]`).hostname.slice(1, -1);
  const mapped = MAPPED.exec(shortest);
  return mapped === null ? shortest : dotted(mapped[1] ?? '', mapped[2] ?? '');
}
