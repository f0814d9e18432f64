/**
 * What upstream's types don't know is not carried into new objects: a newer API server may give
 * templates with more fields, and upstream loses those when it reads them.
 */
import table from './template-fields-v1.36.3.json' with { type: 'json' };

type Fields = Readonly<Record<string, unknown>>;

/** The fields of one type; those that are looked into as well name the type of what is below. */
type FieldTypes = ReadonlyMap<string, string | undefined>;

const TYPES: ReadonlyMap<string, FieldTypes> = new Map(
  Object.entries(table).map(([type, fields]) => [
    type,
    new Map(
      fields.split(' ').map((field) => {
        const [name = '', below] = field.split(':');
        return [name, below];
      }),
    ),
  ]),
);

/** Gives the value itself if nothing in it is unknown. */
function known(value: unknown, type: FieldTypes | undefined): unknown {
  if (type === undefined || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => known(item, type));
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  const fields = value as Fields;
  const names = Object.keys(fields);
  const kept = names
    .filter((name) => type.has(name))
    .map((name) => [name, known(fields[name], TYPES.get(type.get(name) ?? ''))] as const);
  const isWhole = kept.length === names.length && kept.every(([name, to]) => to === fields[name]);
  return isWhole ? value : Object.fromEntries(kept);
}

/** Objects of the API are never changed, and one template makes many pods. */
const found = new WeakMap<object, object>();

/**
 * The object without fields, at any depth, that v1.36.3's type of this name doesn't have; itself if
 * there are none. What stands under free keys (labels, quantities) is kept as it is.
 */
export function knownFields<T extends object>(
  object: T,
  type: 'PodTemplateSpec' | 'JobTemplateSpec' | 'PersistentVolumeClaim',
): T {
  const before = found.get(object);
  if (before !== undefined) return before as T;
  const now = known(object, TYPES.get(type)) as T;
  found.set(object, now);
  return now;
}
