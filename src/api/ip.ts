/** IP addresses as upstream reads them (leading zeros allowed) and writes them (shortest form). */

export type IpFamily = 'IPv4' | 'IPv6';

export interface Ip {
  readonly family: IpFamily;
  /** In the one form that the API writes. */
  readonly text: string;
}

const GROUPS = 8;
const GROUP_MAX = 0xffff;
const OCTET_MAX = 0xff;
const HEX = /^[0-9a-fA-F]{1,4}$/;
const DIGITS = /^[0-9]+$/;
const MAPPED_IPV4 = [0, 0, 0, 0, 0, GROUP_MAX];

/** The address, or undefined if the text is none. An IPv4 address written as IPv6 is IPv4. */
export function parseIp(text: string): Ip | undefined {
  if (!text.includes(':')) {
    const octets = octetsOf(text);
    return octets && { family: 'IPv4', text: octets.join('.') };
  }
  const groups = groupsOf(text);
  if (groups === undefined) return undefined;
  if (MAPPED_IPV4.every((group, at) => groups[at] === group)) {
    const octets = groups.slice(MAPPED_IPV4.length).flatMap((group) => [group >> 8, group & 0xff]);
    return { family: 'IPv4', text: octets.join('.') };
  }
  return { family: 'IPv6', text: shortest(groups) };
}

function octetsOf(text: string): number[] | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  const octets: number[] = [];
  for (const part of parts) {
    const octet = DIGITS.test(part) ? Number(part) : OCTET_MAX + 1;
    if (octet > OCTET_MAX) return undefined;
    octets.push(octet);
  }
  return octets;
}

function groupsOf(text: string): number[] | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [left = '', right] = halves;
  const head = halfOf(left, right === undefined);
  if (right === undefined) return head?.length === GROUPS ? head : undefined;
  const tail = halfOf(right, true);
  if (head === undefined || tail === undefined) return undefined;
  const missing = GROUPS - head.length - tail.length;
  return missing < 1 ? undefined : [...head, ...Array<number>(missing).fill(0), ...tail];
}

/** Groups of one side of "::"; only the last may be an IPv4 address, which counts as two. */
function halfOf(text: string, mayEndInIpv4: boolean): number[] | undefined {
  if (text === '') return [];
  const groups: number[] = [];
  const parts = text.split(':');
  for (const [at, part] of parts.entries()) {
    if (HEX.test(part)) groups.push(Number.parseInt(part, 16));
    else if (mayEndInIpv4 && at === parts.length - 1) {
      const [a = 0, b = 0, c = 0, d] = octetsOf(part) ?? [];
      if (d === undefined) return undefined;
      groups.push((a << 8) | b, (c << 8) | d);
    } else return undefined;
  }
  return groups;
}

/** The first longest run of at least two zero groups becomes "::". */
function shortest(groups: readonly number[]): string {
  let from = -1;
  let length = 1;
  for (let start = 0; start < GROUPS; start++) {
    let end = start;
    while (groups[end] === 0) end++;
    if (end - start > length) {
      from = start;
      length = end - start;
    }
  }
  const texts = groups.map((group) => group.toString(16));
  if (from < 0) return texts.join(':');
  return `${texts.slice(0, from).join(':')}::${texts.slice(from + length).join(':')}`;
}
