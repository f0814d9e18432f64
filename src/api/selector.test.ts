import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { compileSelector, repeatedMatch, type Selector, selectorFromMap } from './selector.ts';
import type { LabelSelector } from './types/index.ts';

function compiled(spec: LabelSelector | undefined): Selector {
  const { selector, problem } = compileSelector(spec);
  if (selector === undefined) throw new Error(problem);
  return selector;
}

function expression(key: string, operator: string, ...values: string[]): LabelSelector {
  return { matchExpressions: [{ key, operator, values }] };
}

const NAME_RULE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " +
  "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for " +
  "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or " +
  "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  " +
  "or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or " +
  "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used " +
  "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

describe('a selector that is absent or empty', () => {
  test('matches nothing if it is absent', () => {
    const selector = compiled(undefined);
    expect(selector.matches({})).toBe(false);
    expect(selector.matches({ a: '1' })).toBe(false);
    expect(selector).toMatchObject({ empty: false, text: '' });
  });

  test.each([{}, { matchLabels: {} }, { matchExpressions: [] }])(
    'matches all if it is %j',
    (spec) => {
      const selector = compiled(spec);
      expect(selector.matches({})).toBe(true);
      expect(selector.matches({ a: '1' })).toBe(true);
      expect(selector).toMatchObject({ empty: true, text: '' });
    },
  );

  test('a map without labels is empty as well', () => {
    expect(selectorFromMap(undefined)).toMatchObject({ empty: true, text: '' });
    expect(selectorFromMap({}).matches({ a: '1' })).toBe(true);
  });
});

describe('text', () => {
  test('requirements by key, values by name', () => {
    const selector = compiled({
      matchLabels: { b: '2', a: '1' },
      matchExpressions: [
        { key: 'c', operator: 'In', values: ['z', 'y'] },
        { key: 'aa', operator: 'NotIn', values: ['q'] },
        { key: 'x', operator: 'Exists' },
        { key: 'n', operator: 'DoesNotExist' },
      ],
    });
    expect(selector.text).toBe('a=1,aa notin (q),b=2,c in (y,z),!n,x');
    expect(selectorFromMap({ b: '2', a: '' }).text).toBe('a=,b=2');
  });
});

describe('matching', () => {
  test.each([
    ['In', ['v'], { k: 'v' }, true],
    ['In', ['v', 'w'], { k: 'w' }, true],
    ['In', ['v'], { k: 'w' }, false],
    ['In', ['v'], {}, false],
    ['In', [''], {}, false],
    ['NotIn', ['v'], { k: 'w' }, true],
    ['NotIn', ['v'], { k: 'v' }, false],
    ['NotIn', ['v'], {}, true],
    ['Exists', [], { k: '' }, true],
    ['Exists', [], {}, false],
    ['DoesNotExist', [], {}, true],
    ['DoesNotExist', [], { k: '' }, false],
  ])('%s %j against %j: %p', (operator, values, labels, answer) => {
    const set = labels as Record<string, string>;
    expect(compiled(expression('k', operator, ...values)).matches(set)).toBe(answer);
  });

  test('names that every object inherits are no labels', () => {
    expect(compiled(expression('constructor', 'Exists')).matches({})).toBe(false);
    expect(compiled(expression('toString', 'DoesNotExist')).matches({})).toBe(true);
    expect(compiled(expression('valueOf', 'NotIn', 'a')).matches({})).toBe(true);
    expect(compiled(expression('constructor', 'In', 'a')).matches({ constructor: 'a' })).toBe(true);
  });
});

describe('what is wrong, in the words of the API server', () => {
  test.each([
    [expression('a', 'in', 'b'), '"in" is not a valid label selector operator'],
    [expression('a', 'toString'), '"toString" is not a valid label selector operator'],
    [
      expression('a', 'In'),
      "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
    ],
    [
      expression('a', 'DoesNotExist', 'v', 'w'),
      'values: Invalid value: ["v","w"]: values set must be empty for exists and does not exist',
    ],
    [expression('-a', 'Exists'), `key: Invalid value: "-a": name part ${NAME_RULE}`],
    [
      expression('', 'Exists'),
      `key: Invalid value: "": name part must be non-empty; name part ${NAME_RULE}`,
    ],
    [expression('/a', 'Exists'), 'key: Invalid value: "/a": prefix part must be non-empty'],
    [
      expression('A.com/a', 'Exists'),
      `key: Invalid value: "A.com/a": prefix part ${SUBDOMAIN_RULE}`,
    ],
    [
      expression('a/b/c', 'Exists'),
      `key: Invalid value: "a/b/c": a valid label key ${NAME_RULE} with an optional DNS subdomain ` +
        "prefix and '/' (e.g. 'example.com/MyName')",
    ],
    [
      expression('x'.repeat(64), 'Exists'),
      `key: Invalid value: "${'x'.repeat(64)}": name part must be no more than 63 bytes`,
    ],
    [
      expression('a', 'In', 'ok', 'bad!', 'v'.repeat(64)),
      `[values[1][a]: Invalid value: "bad!": ${VALUE_RULE}, ` +
        `values[2][a]: Invalid value: "${'v'.repeat(64)}": must be no more than 63 bytes]`,
    ],
    [
      expression('-a', 'In'),
      `[key: Invalid value: "-a": name part ${NAME_RULE}, ` +
        "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty]",
    ],
    [{ matchLabels: { a: 'x y' } }, `values[0][a]: Invalid value: "x y": ${VALUE_RULE}`],
  ])('%j', (spec, problem) => {
    expect(compileSelector(spec)).toEqual({ problem });
  });

  test('the longest and the emptiest that is allowed', () => {
    const long = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`;
    expect(
      compileSelector(expression(`${long}/${'n'.repeat(63)}`, 'Exists')).problem,
    ).toBeUndefined();
    expect(compileSelector({ matchLabels: { a: '' } }).problem).toBeUndefined();
  });
});

const key = fc.constantFrom('a', 'b', 'c', 'app.io/d');
const value = fc.constantFrom('', '1', '2', 'x');
const labels = fc.dictionary(key, value);
const requirement = fc.oneof(
  fc.record({
    key,
    operator: fc.constantFrom('In', 'NotIn'),
    values: fc.array(value, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ key, operator: fc.constantFrom('Exists', 'DoesNotExist') }),
);
const selectors = fc.record({
  matchLabels: labels,
  matchExpressions: fc.array(requirement, { maxLength: 3 }),
});

describe('generated selectors', () => {
  test('match exactly when each part alone matches', () => {
    fc.assert(
      fc.property(selectors, labels, (spec, set) => {
        const parts = [
          ...Object.entries(spec.matchLabels).map(([k, v]) => ({ matchLabels: { [k]: v } })),
          ...spec.matchExpressions.map((one) => ({ matchExpressions: [one] })),
        ];
        const each = parts.every((part) => compiled(part).matches(set));
        expect(compiled(spec).matches(set)).toBe(each);
      }),
    );
  });

  test('an operator and its opposite never agree', () => {
    const opposite = { In: 'NotIn', NotIn: 'In', Exists: 'DoesNotExist', DoesNotExist: 'Exists' };
    fc.assert(
      fc.property(requirement, labels, (one, set) => {
        const other = { ...one, operator: opposite[one.operator as keyof typeof opposite] };
        const answer = compiled({ matchExpressions: [one] }).matches(set);
        expect(compiled({ matchExpressions: [other] }).matches(set)).toBe(!answer);
      }),
    );
  });

  test('labels match a selector made of them, and of any part of them', () => {
    fc.assert(
      fc.property(labels, labels, (set, more) => {
        expect(selectorFromMap(set).matches({ ...more, ...set })).toBe(true);
      }),
    );
  });

  test('a matcher that repeats itself answers as a fresh one', () => {
    fc.assert(
      fc.property(
        selectors,
        fc.array(labels, { minLength: 1 }),
        fc.infiniteStream(fc.nat()),
        (spec, sets, picks) => {
          const selector = compiled(spec);
          const matches = repeatedMatch(selector);
          for (let i = 0; i < 20; i++) {
            const set = sets[(picks.next().value as number) % sets.length]!;
            expect(matches(set)).toBe(selector.matches(set));
          }
        },
      ),
    );
  });
});
