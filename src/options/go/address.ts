/** IP addresses as Go's net.ParseIP reads and IP.String writes them. */
import { isIPv4, isIPv6 } from 'node:net';
import { parseIp } from '../../api/ip.ts';

/** The address in its shortest form, or undefined if the text is none; zones are refused. */
export function parseAddress(text: string): string | undefined {
  const plain = isIPv4(text) || (isIPv6(text) && !text.includes('%'));
  return plain ? parseIp(text)?.text : undefined;
}
