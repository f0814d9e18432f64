/** IP addresses as Go's net.ParseIP reads and IP.String writes them. */
import { isIPv4, isIPv6 } from 'node:net';

const GROUPS = 8;
const MAPPED_PREFIX = [0, 0, 0, 0, 0, 0xffff];

function dotted(high: number, low: number): string {
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}

function numbersOf(side: string): number[] {
  if (side === '') return [];
  return side.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [(a << 8) | b, (c << 8) | d];
  });
}

/** The eight groups of a text that is known to be an IPv6 address. */
function groupsOf(text: string): number[] {
  const [left = '', right] = text.split('::');
  const head = numbersOf(left);
  if (right === undefined) return head;
  const tail = numbersOf(right);
  return [...head, ...Array<number>(GROUPS - head.length - tail.length).fill(0), ...tail];
}

/** Start and length of the first longest run of at least two zero groups. */
function longestZeros(groups: readonly number[]): { start: number; length: number } {
  let best = { start: -1, length: 1 };
  for (let start = 0; start < GROUPS; start += 1) {
    let end = start;
    while (groups[end] === 0) end += 1;
    if (end - start > best.length) best = { start, length: end - start };
  }
  return best;
}

function shortestText(groups: readonly number[]): string {
  const texts = groups.map((group) => group.toString(16));
  const { start, length } = longestZeros(groups);
  if (start < 0) return texts.join(':');
  return `${texts.slice(0, start).join(':')}::${texts.slice(start + length).join(':')}`;
}

/** The address in its shortest form, or undefined if the text is none; zones are refused. */
export function parseAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const groups = groupsOf(text);
  const mapped = MAPPED_PREFIX.every((group, at) => groups[at] === group);
  return mapped ? dotted(groups[6] ?? 0, groups[7] ?? 0) : shortestText(groups);
}
