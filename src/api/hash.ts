/** Short, name-safe hashes: FNV-1 and FNV-1a, and the encoding that upstream gives to them. */
import { stringifyJson } from './json.ts';
import { knownFields } from './known-fields.ts';
import type { PodTemplateSpec } from './types/index.ts';

/** The characters of generated names and hashes: no vowels, nothing that looks like another. */
export const SAFE_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
/** The 128-bit offset basis in pieces of 16 bits, lowest first. */
const FNV_OFFSET_128 = [0xc58d, 0x6295, 0x2175, 0x62b8, 0x0142, 0x07bb, 0x272e, 0x6c62] as const;
const PIECE = 0xffff;
type Pieces = [number, number, number, number, number, number, number, number];
/** The 128-bit prime is 2^88 + 315. */
const FNV_PRIME_128_LOW = 315;
const COLLISION_BYTES = 8;

/** FNV-1a of the bytes as an unsigned 32-bit number. */
export function fnv1a32(bytes: Uint8Array): number {
  let hash = FNV_OFFSET;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, FNV_PRIME);
  return hash >>> 0;
}

/** FNV-1 (multiply, then mix in) of the bytes as an unsigned 32-bit number. */
export function fnv1of32(bytes: Uint8Array): number {
  let hash = FNV_OFFSET;
  for (const byte of bytes) hash = Math.imul(hash, FNV_PRIME) ^ byte;
  return hash >>> 0;
}

/** FNV-1a of the bytes as an unsigned 128-bit number, in 32 hexadecimal digits. */
export function fnv1a128(bytes: Uint8Array): string {
  let [p0, p1, p2, p3, p4, p5, p6, p7]: Pieces = [...FNV_OFFSET_128];
  for (const byte of bytes) {
    // Times 2^88 + 315: a small product for each piece, and the whole shifted up by 88 bits.
    const first = p0 ^ byte;
    let product = first * FNV_PRIME_128_LOW;
    p0 = product & PIECE;
    const shifted5 = (first << 8) & PIECE;
    const shifted6 = ((p1 << 8) | (first >>> 8)) & PIECE;
    const shifted7 = ((p2 << 8) | (p1 >>> 8)) & PIECE;
    product = p1 * FNV_PRIME_128_LOW + (product >>> 16);
    p1 = product & PIECE;
    product = p2 * FNV_PRIME_128_LOW + (product >>> 16);
    p2 = product & PIECE;
    product = p3 * FNV_PRIME_128_LOW + (product >>> 16);
    p3 = product & PIECE;
    product = p4 * FNV_PRIME_128_LOW + (product >>> 16);
    p4 = product & PIECE;
    product = p5 * FNV_PRIME_128_LOW + (product >>> 16) + shifted5;
    p5 = product & PIECE;
    product = p6 * FNV_PRIME_128_LOW + (product >>> 16) + shifted6;
    p6 = product & PIECE;
    product = p7 * FNV_PRIME_128_LOW + (product >>> 16) + shifted7;
    p7 = product & PIECE;
  }
  const pieces = [p7, p6, p5, p4, p3, p2, p1, p0];
  return pieces.map((piece) => piece.toString(16).padStart(4, '0')).join('');
}

/** Each character mapped into the safe alphabet by its code (upstream's rand.SafeEncodeString). */
export function safeEncode(text: string): string {
  let encoded = '';
  for (let at = 0; at < text.length; at++) {
    encoded += SAFE_ALPHABET[text.charCodeAt(at) % SAFE_ALPHABET.length];
  }
  return encoded;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}

/** JSON text that doesn't depend on the order in which the fields were written. */
export function canonicalJson(value: unknown): string {
  return stringifyJson(sorted(value));
}

/**
 * The hash that names a ReplicaSet and labels its pods. Upstream hashes a dump that only Go can
 * make, so the value differs from upstream's; nobody looks a ReplicaSet up by it. It is the same
 * for the same template and collision count, fields that upstream doesn't know left out, and has
 * upstream's shape.
 */
export function templateHash(
  template: PodTemplateSpec,
  collisionCount: number | undefined,
): string {
  const text = new TextEncoder().encode(canonicalJson(knownFields(template, 'PodTemplateSpec')));
  const bytes = new Uint8Array(text.length + (collisionCount === undefined ? 0 : COLLISION_BYTES));
  bytes.set(text);
  if (collisionCount !== undefined) {
    new DataView(bytes.buffer).setUint32(text.length, collisionCount, true);
  }
  return safeEncode(String(fnv1a32(bytes)));
}

/**
 * The hash that names a ControllerRevision: of the raw bytes of its data, then of the collision
 * count in decimal if there is one. The same as upstream's (HashControllerRevision).
 */
export function revisionHash(data: string, collisionCount: number | undefined): string {
  const text = data + (collisionCount === undefined ? '' : String(collisionCount));
  return safeEncode(String(fnv1of32(new TextEncoder().encode(text))));
}
