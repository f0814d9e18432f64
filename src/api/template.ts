/** Pod templates compared by meaning, as the API server's semantic equality does. */
import { knownFields } from './known-fields.ts';
import { quantitiesEqual } from './quantity.ts';
import type { PodTemplateSpec } from './types/index.ts';

/** Label that tells the ReplicaSets of one Deployment, and their pods, apart. */
export const POD_TEMPLATE_HASH_LABEL = 'pod-template-hash';

type Fields = Readonly<Record<string, unknown>>;

const NOTHING: Fields = Object.freeze({});

/** Fields that hold free text by free keys: compared letter by letter. */
const TEXT_MAPS: ReadonlySet<string> = new Set([
  'labels',
  'annotations',
  'matchLabels',
  'nodeSelector',
  'options',
  'volumeAttributes',
]);
const QUANTITY_MAPS: ReadonlySet<string> = new Set(['limits', 'requests', 'overhead']);
const QUANTITIES: ReadonlySet<string> = new Set(['divisor', 'sizeLimit']);
const TIMES: ReadonlySet<string> = new Set(['creationTimestamp', 'deletionTimestamp']);
/** Objects that upstream's types always hold, so that absent and `{}` are one and the same. */
const ALWAYS_THERE: ReadonlySet<string> = new Set([
  'metadata',
  'spec',
  'preference',
  'podAffinityTerm',
]);
/** `resources` of a container or a claim is always there; the pod's own (spec.resources) isn't. */
const POD_RESOURCES_DEPTH = 2;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function emptyMeansAbsent(key: string, depth: number): boolean {
  if (key === 'resources') return depth !== POD_RESOURCES_DEPTH;
  return ALWAYS_THERE.has(key) || TEXT_MAPS.has(key) || QUANTITY_MAPS.has(key);
}

function sameKeys(a: Fields, b: Fields): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key));
}

function mapsEqual(a: Fields, b: Fields, same: (a: unknown, b: unknown) => boolean): boolean {
  return sameKeys(a, b) && Object.keys(a).every((key) => same(a[key], b[key]));
}

function sameQuantity(a: unknown, b: unknown): boolean {
  return quantitiesEqual(String(a), String(b));
}

function fieldsEqual(a: Fields, b: Fields, depth: number): boolean {
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  for (const key of keys) {
    if (!valuesEqual(a[key], b[key], key, depth)) return false;
  }
  return true;
}

function listsEqual(
  a: readonly unknown[],
  b: readonly unknown[],
  key: string,
  depth: number,
): boolean {
  if (a.length !== b.length) return false;
  return a.every((item, at) => {
    const other = b[at];
    return isFields(item) && isFields(other)
      ? fieldsEqual(item, other, depth + 1)
      : valuesEqual(item, other, key, depth + 1);
  });
}

function leavesEqual(a: unknown, b: unknown, key: string): boolean {
  if (a === b) return true;
  if (key === 'divisor') return sameQuantity(a ?? '0', b ?? '0');
  if (a === undefined || b === undefined) return false;
  if (QUANTITIES.has(key)) return sameQuantity(a, b);
  if (TIMES.has(key)) return Date.parse(String(a)) === Date.parse(String(b));
  return false;
}

/** null, and a list without members, say no more than an absent field. */
function present(value: unknown): unknown {
  return value === null || (Array.isArray(value) && value.length === 0) ? undefined : value;
}

function valuesEqual(left: unknown, right: unknown, key: string, depth: number): boolean {
  const filler = emptyMeansAbsent(key, depth) ? NOTHING : undefined;
  const a = present(left) ?? filler;
  const b = present(right) ?? filler;
  if (Array.isArray(a) && Array.isArray(b)) return listsEqual(a, b, key, depth);
  if (!isFields(a) || !isFields(b)) return leavesEqual(a, b, key);
  if (TEXT_MAPS.has(key)) return mapsEqual(a, b, Object.is);
  if (QUANTITY_MAPS.has(key)) return mapsEqual(a, b, sameQuantity);
  return fieldsEqual(a, b, depth + 1);
}

/** The labels without the one that tells ReplicaSets of a Deployment apart. */
export function withoutHashLabel(
  labels: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> {
  const { [POD_TEMPLATE_HASH_LABEL]: _, ...rest } = labels ?? {};
  return rest;
}

function comparable(given: PodTemplateSpec): Fields {
  const template = knownFields(given, 'PodTemplateSpec');
  const labels = withoutHashLabel(template.metadata?.labels);
  return { ...template, metadata: { ...template.metadata, labels } };
}

/**
 * True if two templates describe the same pod, the hash label and fields that upstream doesn't know
 * left out (upstream's EqualIgnoreHash over its semantic equality): absent, null and empty lists
 * and maps are the same, quantities and times count by value. An unset optional field and one set
 * to its zero value are not the same. Both must come from the API server, which has filled in its
 * defaults.
 */
export function templatesEqual(a: PodTemplateSpec, b: PodTemplateSpec): boolean {
  return fieldsEqual(comparable(a), comparable(b), 1);
}
