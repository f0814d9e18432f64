/** What of an object may be written to disk: no managedFields, and of Secrets no data. */
import { createHmac } from 'node:crypto';
import { stringifyJson } from '../api/json.ts';
import type { KubeObject, ObjectMeta } from '../api/types/index.ts';

/** Annotations in which tools keep a copy of the whole object. */
const COPIES_OF_OBJECT: readonly string[] = [
  'kubectl.kubernetes.io/last-applied-configuration',
  'objectset.rio.cattle.io/applied',
  'kapp.k14s.io/original',
  'banzaicloud.com/last-applied',
];
/** Shorter values are too common to be searched for, in base64 characters. */
const SEARCHED_LENGTH_MIN = 12;

interface SecretData {
  readonly data?: Readonly<Record<string, string>> | null;
  readonly stringData?: Readonly<Record<string, string>> | null;
}

/** A Secret as it is stored: which keys it has, and a digest that changes with their values. */
export interface RedactedSecret {
  readonly dataKeys: readonly string[];
  /** HMAC-SHA256, hex, over all keys and values. */
  readonly dataDigest: string;
}

/** True if the object has a field or annotation that `redactForDisk` would take from a Secret. */
export function holdsSecretData(object: KubeObject): boolean {
  const annotations = object.metadata.annotations ?? {};
  return (
    'data' in object ||
    'stringData' in object ||
    object.metadata.managedFields !== undefined ||
    COPIES_OF_OBJECT.some((name) => name in annotations)
  );
}

/**
 * The object without managedFields. Of resource "secrets" also `data` and `stringData` go, and
 * `dataKeys` and `dataDigest` take their place; annotations that hold a copy of the object or one
 * of its encoded values go too. The digest only tells whether data changed, and only under the same
 * key. Applying it twice changes nothing. Pure; the object handed in stays as it is.
 */
export function redactForDisk<T extends KubeObject>(
  resource: string,
  object: T,
  digestKey: Uint8Array,
): T {
  if (resource === 'secrets') return redactSecret(object, digestKey);
  if (object.metadata.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function redactSecret<T extends KubeObject>(object: T, digestKey: Uint8Array): T {
  if (!holdsSecretData(object)) return object;
  const { data, stringData, ...rest } = object as T & SecretData;
  const metadata = redactMetadata(object.metadata, { ...data, ...stringData });
  const bare = { ...rest, metadata } as unknown as T;
  if (data === undefined && stringData === undefined) return bare;
  return { ...bare, ...digestOf({ ...data, ...stringData }, digestKey) };
}

function digestOf(data: Readonly<Record<string, string>>, digestKey: Uint8Array): RedactedSecret {
  const dataKeys = Object.keys(data).sort();
  const pairs = dataKeys.map((key) => [key, data[key]]);
  const dataDigest = createHmac('sha256', digestKey).update(stringifyJson(pairs)).digest('hex');
  return { dataKeys, dataDigest };
}

function redactMetadata(meta: ObjectMeta, data: Readonly<Record<string, string>>): ObjectMeta {
  const { managedFields: _, annotations, ...metadata } = meta;
  if (annotations === undefined) return metadata;
  const secrets = Object.values(data).filter((text) => text.length >= SEARCHED_LENGTH_MIN);
  const kept = Object.entries(annotations).filter(
    ([name, value]) =>
      !COPIES_OF_OBJECT.includes(name) && !secrets.some((secret) => value.includes(secret)),
  );
  return { ...metadata, annotations: Object.fromEntries(kept) };
}
