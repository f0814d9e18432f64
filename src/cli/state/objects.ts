/** Views of cached objects: which there are, one of them whole, and all that is known about one. */
import { parseJson, stringifyJson } from '../../api/json.ts';
import { repeatedMatch } from '../../api/selector.ts';
import { parseSelector } from '../../api/selector-parse.ts';
import { bytesText } from '../../runtime/age.ts';
import { toldText } from '../../runtime/told.ts';
import { objectNamed, resourceNamed, tell } from '../../store/index.ts';
import type { View } from '../output.ts';
import { type OptionRow, UsageFault } from '../ports.ts';
import { operandsUpTo, type Words, wholeNumber } from '../words.ts';
import { LIMIT_OPTION, listView, type Show } from './lists.ts';
import { aboutSource, type StateSource } from './source.ts';

/** Options of `state objects`. */
export const OBJECTS_OPTIONS: readonly OptionRow[] = [
  { name: 'namespace', short: 'n', value: 'NAME', help: 'only objects of this namespace' },
  {
    name: 'selector',
    short: 'l',
    value: 'SELECTOR',
    help: "only objects with such labels, e.g. 'app=web,tier!=test'",
  },
  LIMIT_OPTION,
];

const JSON_INDENT = 2;

/** The one resource that a word means. Throws UsageFault. */
function resourceOf(source: StateSource, word: string): string {
  const named = resourceNamed(source.inspector, word);
  if ('problem' in named) throw new UsageFault(named.problem);
  return named.resource;
}

function resourcesView(source: StateSource): View {
  const items = source.inspector.stats().resources;
  const rows = items.map((row) => [row.resource, row.rows, bytesText(row.jsonBytes)]);
  const head = ['RESOURCE', 'OBJECTS', 'SIZE'];
  return listView(source, { head, rows, empty: 'No objects are cached.' }, items);
}

function objectView(source: StateSource, resource: string, key: string): View {
  const row = source.inspector.object(resource, key);
  if (row === undefined) throw new UsageFault(`${resource} ${key} is not cached`);
  const object = parseJson<object>(row.json);
  return {
    notes: [source.note, ''],
    parts: [`${stringifyJson(object, JSON_INDENT)}\n`],
    data: { ...aboutSource(source), object },
  };
}

/** Cached resources, the objects of one, or one object (KIND NAMESPACE/NAME, KIND/NAMESPACE/NAME). */
export const showObjects: Show = (source, words) => {
  const usage = 'state objects [KIND [[NAMESPACE/]NAME] | KIND/[NAMESPACE/]NAME]';
  const [word, name] = operandsUpTo(words, 2, usage);
  if (word === undefined) return resourcesView(source);
  if (name !== undefined) return objectView(source, ...objectOf(source, `${word}/${name}`));
  if (word.includes('/')) return objectView(source, ...objectOf(source, word));
  const found = source.inspector.objectRows({
    resource: resourceOf(source, word),
    ...optional('namespace', words.value('namespace')),
    ...optional('limit', wholeNumber(words, 'limit')),
    ...optional('matches', selectorOf(words)),
  });
  const rows = found.map((row) => [row.key, row.resourceVersion, row.uid]);
  const head = ['KEY', 'VERSION', 'UID'];
  const whole = (words.value('output') ?? 'table') !== 'table';
  const items = whole ? found.map(({ json }) => parseJson<object>(json)) : [];
  return listView(source, { head, rows, empty: 'No such objects are cached.' }, items);
};

function optional<K extends string, T>(name: K, value: T | undefined): { readonly [N in K]?: T } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [N in K]?: T });
}

/** What the labels must match. Throws UsageFault. */
function selectorOf(words: Words): ReturnType<typeof repeatedMatch> | undefined {
  const text = words.value('selector');
  if (text === undefined) return undefined;
  const { selector, problem } = parseSelector(text);
  if (selector !== undefined) return repeatedMatch(selector);
  const found = JSON.stringify(text);
  throw new UsageFault(`--selector is ${found}; valid is e.g. 'app=web,tier!=test': ${problem}`);
}

/** Resource and key of "KIND/NAME" or "KIND/NAMESPACE/NAME". Throws UsageFault. */
function objectOf(source: StateSource, word: string): readonly [string, string] {
  const named = objectNamed(source.inspector, word);
  if ('problem' in named) throw new UsageFault(named.problem);
  return [named.resource, named.key];
}

/** Everything known about one object: what waits for it, what was done to it, and why. */
export const showExplanation: Show = (source, words: Words) => {
  const [word] = operandsUpTo(words, 1, 'state explain KIND/[NAMESPACE/]NAME');
  if (word === undefined) {
    throw new UsageFault('which object? valid is KIND/NAMESPACE/NAME or KIND/NAME');
  }
  const explanation = source.inspector.explain(...objectOf(source, word));
  const told = tell(explanation, source.now);
  const { verdict, sentences } = told;
  return {
    notes: [source.note, ''],
    parts: [toldText(told)],
    data: { ...aboutSource(source), verdict, sentences, ...explanation },
  };
};
