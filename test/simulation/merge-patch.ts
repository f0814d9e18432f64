/** Merge patches and as much of strategic merge patches as the controllers send. */
import type { Json } from '../rig/api.ts';

/** Lists whose elements are told apart by a field; all others are replaced whole. */
const MERGE_KEYS: Readonly<Record<string, string>> = {
  ownerReferences: 'uid',
  conditions: 'type',
  containers: 'name',
};
const DELETE_LIST = '$deleteFromPrimitiveList/';

function isObject(value: Json): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** RFC 7386. Gives a new value; nothing is changed in place. */
export function mergePatch(target: Json, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const result: Json = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = mergePatch(result[key], value);
  }
  return result;
}

function mergeLists(key: string, target: Json, patch: Json): Json {
  const by = MERGE_KEYS[key];
  if (key === 'finalizers') return [...new Set([...(target ?? []), ...patch])];
  if (by === undefined) return patch;
  let result: Json[] = [...(target ?? [])];
  for (const element of patch) {
    const at = result.findIndex((one) => one[by] === element[by]);
    if (element.$patch === 'delete') result = result.filter((one) => one[by] !== element[by]);
    else if (at < 0) result.push(element);
    else result[at] = strategicPatch(result[at], element);
  }
  return result;
}

/** A strategic merge patch. Gives a new value; nothing is changed in place. */
export function strategicPatch(target: Json, patch: Json): Json {
  const result: Json = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries<Json>(patch)) {
    if (key.startsWith('$setElementOrder/')) continue;
    if (key.startsWith(DELETE_LIST)) {
      const field = key.slice(DELETE_LIST.length);
      result[field] = (result[field] ?? []).filter((one: Json) => !value.includes(one));
    } else if (value === null) delete result[key];
    else if (Array.isArray(value)) result[key] = mergeLists(key, result[key], value);
    else result[key] = isObject(value) ? strategicPatch(result[key], value) : value;
  }
  return result;
}
