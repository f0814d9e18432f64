/** Numbers that campaigns are given in the environment. */

/** A whole number from 0 on; `fallback` where nothing is set. Throws for anything else. */
export function wholeNumber(name: string, fallback: number): number {
  const text = process.env[name] ?? '';
  const value = text === '' ? fallback : Number(text);
  if (Number.isInteger(value) && value >= 0) return value;
  throw new Error(`${name}=${text} is no whole number: want e.g. ${name}=${fallback}`);
}
