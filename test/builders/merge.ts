/** Merging overrides into defaults, and naming objects. */

/** Overrides of an object: any part of it. Lists are given whole. */
export type DeepPartial<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]?: DeepPartial<T[K]> | undefined }
    : T;

type Plain = Readonly<Record<string, unknown>>;

function isPlain(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `base` with `over` merged in: objects deeply, lists and values replaced, undefined removes. */
export function merge<T>(base: T, over: unknown): T {
  if (!isPlain(base) || !isPlain(over)) return over as T;
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    if (value === undefined) delete merged[key];
    else merged[key] = key in merged ? merge(merged[key], value) : value;
  }
  return merged as T;
}

/** Name and namespace of "NAMESPACE/NAME" or "NAME". */
export function place(id: string): { readonly name: string; readonly namespace?: string } {
  const slash = id.indexOf('/');
  if (slash < 0) return { name: id };
  return { namespace: id.slice(0, slash), name: id.slice(slash + 1) };
}
