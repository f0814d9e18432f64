/** Label selectors: checked and compiled once, matched often, written as text for API queries. */
import { labelKeyProblems, labelValueProblems } from './label-syntax.ts';
import type { StringMap } from './meta.ts';
import type { LabelSelector } from './types/index.ts';

type Operator = '=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';

/** One part of a selector; `gt` and `lt` only come from texts. */
export interface Requirement {
  readonly key: string;
  readonly operator: Operator;
  readonly values: readonly string[];
}

/** A compiled selector. */
export interface Selector {
  /** True if the labels satisfy every requirement. */
  matches(labels: StringMap): boolean;
  /** True if it restricts nothing (it matches everything). */
  readonly empty: boolean;
  /** Text form as in `labelSelector=` queries; "" for everything and for nothing. */
  readonly text: string;
}

/** A compiled selector, or what is wrong with it in upstream's words. */
export type CompiledSelector =
  | { readonly selector: Selector; readonly problem?: undefined }
  | { readonly selector?: undefined; readonly problem: string };

const EVERYTHING: Selector = Object.freeze({ matches: () => true, empty: true, text: '' });
const NOTHING: Selector = Object.freeze({ matches: () => false, empty: false, text: '' });

const OPERATORS: Readonly<Record<string, Operator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
};

/**
 * Compiles the selector of a workload's spec. Without one it matches nothing; an empty one matches
 * everything. A selector with an unknown operator, a bad key or bad values gives a problem.
 */
export function compileSelector(spec: LabelSelector | undefined): CompiledSelector {
  if (spec === undefined) return { selector: NOTHING };
  const requirements = Object.entries(spec.matchLabels ?? {}).map(([key, value]) => ({
    key,
    operator: '=' as Operator,
    values: [value],
  }));
  for (const { key, operator, values } of spec.matchExpressions ?? []) {
    const known = Object.hasOwn(OPERATORS, operator) ? OPERATORS[operator] : undefined;
    if (known === undefined) {
      return { problem: `${JSON.stringify(operator)} is not a valid label selector operator` };
    }
    requirements.push({ key, operator: known, values: [...(values ?? [])] });
  }
  for (const requirement of requirements) {
    const problem = requirementProblem(requirement);
    if (problem !== undefined) return { problem };
  }
  return { selector: selectorOf(requirements) };
}

/** What is wrong with a requirement in upstream's words, undefined if nothing. */
export function requirementProblem(requirement: Requirement): string | undefined {
  const problems = problemsOf(requirement);
  if (problems.length === 0) return undefined;
  return problems.length === 1 ? problems.join('') : `[${problems.join(', ')}]`;
}

/** A selector for exactly these labels (unchecked, as the server checked them); empty: everything. */
export function selectorFromMap(labels: StringMap | undefined): Selector {
  const entries = Object.entries(labels ?? {});
  return selectorOf(entries.map(([key, value]) => ({ key, operator: '=', values: [value] })));
}

/**
 * A matcher for many objects in a row that mostly share one label map: the last answer is kept as
 * long as the very same map comes again.
 */
export function repeatedMatch(selector: Selector): (labels: StringMap) => boolean {
  let last: StringMap | undefined;
  let answer = false;
  return (labels) => {
    if (labels !== last) {
      last = labels;
      answer = selector.matches(labels);
    }
    return answer;
  };
}

/** A selector of requirements that were checked; none: everything. */
export function selectorOf(unsorted: readonly Requirement[]): Selector {
  if (unsorted.length === 0) return EVERYTHING;
  const requirements = unsorted.toSorted((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));
  return {
    matches: (labels) => requirements.every((requirement) => satisfies(labels, requirement)),
    empty: false,
    text: requirements.map(textOf).join(','),
  };
}

function satisfies(labels: StringMap, { key, operator, values }: Requirement): boolean {
  const present = Object.hasOwn(labels, key);
  switch (operator) {
    case 'exists':
      return present;
    case '!':
      return !present;
    case 'notin':
      return !present || !values.includes(labels[key] ?? '');
    case 'gt':
    case 'lt':
      return present && isBeyond(labels[key] ?? '', operator, values.join(''));
    default:
      return present && values.includes(labels[key] ?? '');
  }
}

const INTEGER = /^[+-]?\d+$/;

function isBeyond(text: string, operator: 'gt' | 'lt', bound: string): boolean {
  if (!INTEGER.test(text)) return false;
  const [value, limit] = [BigInt(text), BigInt(bound)];
  return operator === 'gt' ? value > limit : value < limit;
}

function textOf({ key, operator, values }: Requirement): string {
  switch (operator) {
    case 'exists':
      return key;
    case '!':
      return `!${key}`;
    case '=':
      return `${key}=${values.join('')}`;
    case 'gt':
    case 'lt':
      return `${key}${operator === 'gt' ? '>' : '<'}${values.join('')}`;
    default:
      return `${key} ${operator} (${values.toSorted().join(',')})`;
  }
}

function problemsOf({ key, operator, values }: Requirement): string[] {
  const problems: string[] = [];
  const bad = labelKeyProblems(key);
  if (bad.length > 0) problems.push(invalid('key', key, bad.join('; ')));
  if ((operator === 'in' || operator === 'notin') && values.length === 0) {
    problems.push(
      invalid('values', null, "for 'in', 'notin' operators, values set can't be empty"),
    );
  }
  if ((operator === 'exists' || operator === '!') && values.length > 0) {
    problems.push(
      invalid('values', values, 'values set must be empty for exists and does not exist'),
    );
  }
  values.forEach((value, index) => {
    if ((operator === 'gt' || operator === 'lt') && !INTEGER.test(value)) {
      const detail = "for 'Gt', 'Lt' operators, the value must be an integer";
      problems.push(invalid(`values[${index}]`, value, detail));
    }
  });
  values.forEach((value, index) => {
    const wrong = labelValueProblems(value);
    if (wrong.length > 0) {
      problems.push(invalid(`values[${index}][${key}]`, value, wrong.join('; ')));
    }
  });
  return problems;
}

function invalid(field: string, value: unknown, detail: string): string {
  return `${field}: Invalid value: ${JSON.stringify(value)}: ${detail}`;
}
