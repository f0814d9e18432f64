/** Views of cached objects: which there are, one of them whole, and all that is known about one. */
import { parseJson, stringifyJson } from '../../api/json.ts';
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

/** Cached resources, the objects of one, or one object (KIND/NAMESPACE/NAME). */
export const showObjects: Show = (source, words) => {
  const [word] = operandsUpTo(words, 1, 'state objects [KIND | KIND/[NAMESPACE/]NAME]');
  if (word === undefined) return resourcesView(source);
  if (word.includes('/')) return objectView(source, ...objectOf(source, word));
  const namespace = words.value('namespace');
  const limit = wholeNumber(words, 'limit');
  const items = source.inspector.objects({
    resource: resourceOf(source, word),
    ...(namespace === undefined ? {} : { namespace }),
    ...(limit === undefined ? {} : { limit }),
  });
  const rows = items.map((row) => [row.key, row.resourceVersion, row.uid]);
  const head = ['KEY', 'VERSION', 'UID'];
  return listView(source, { head, rows, empty: 'No such objects are cached.' }, items);
};

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
