/** An explanation in sentences: what is seen, what fails, what is awaited, what was done last. */
import { timeMs } from '../../api/time.ts';
import { compareVersions } from '../../api/version.ts';
import { ageText, dueText, durationText, momentText } from '../../runtime/age.ts';
import {
  EXPECTATION_TIMEOUT_MS,
  EXPLAIN_NAMED_MAX,
  EXPLAIN_RELATIVES_MAX,
  INTENT_EXPIRY_MS,
} from '../../runtime/limits.ts';
import type { ExpectationRow, IntentRow, OwnWriteRow, WorkRow } from '../../runtime/ports.ts';
import { controllerOfQueue } from '../../runtime/subjects.ts';
import type { Told, ToldRelative } from '../../runtime/told.ts';
import type { JournalEntry } from '../inspect.ts';
import { evidenceOf } from './evidence.ts';
import type { Explanation, Relative } from './rows.ts';
import { kindOf, lacksSomething, sightOf } from './sight.ts';

/** The same facts in sentences, the worst first, with the rows below as evidence. `now` in ms. */
export function tell(found: Explanation, now: number): Told {
  const failures = failureSentences(found.work, now);
  const waits = waitSentences(found, now);
  const { object, resource, key } = found;
  return {
    title: `${kindOf(resource, object)} ${key}`,
    verdict: verdictOf(found, failures, waits),
    sentences: [
      ...failures,
      ...seenSentences(found, now),
      ...familySentences(found),
      ...belowSentences(found, now),
      ...(waits.length > 0 ? waits : quietSentences(found, failures)),
      ...lastSentences(found, now),
    ],
    relatives: [...relativesOf(found.owners, 'owner'), ...relativesOf(found.dependents, 'child')],
    evidence: evidenceOf(found, now),
  };
}

function relativesOf(
  relatives: readonly Relative[],
  relation: ToldRelative['relation'],
): ToldRelative[] {
  return relatives
    .filter(({ resource }) => resource !== '')
    .map(({ kind, resource, key }) => ({
      relation,
      kind: kind || kindOf(resource),
      resource,
      key,
    }));
}

function verdictOf(
  found: Explanation,
  failures: readonly string[],
  waits: readonly string[],
): Told['verdict'] {
  const { object, journal, below } = found;
  if (failures.length > 0 || below.some(({ failing }) => failing.length > 0)) return 'failing';
  if (waits.length > 0 || isLacking(found)) return 'waiting';
  return object === undefined && journal.length === 0 ? 'unknown' : 'quiet';
}

function seenSentences({ resource, key, object, points }: Explanation, now: number): string[] {
  const point = points.find((each) => each.resource === resource);
  const fed =
    point === undefined
      ? `No complete list of ${resource} is stored.`
      : `The cache of ${resource} stands at version ${point.resourceVersion}, ` +
        `as of ${durationText(now - point.observedAt)} ago.`;
  if (object === undefined) {
    return [`${kindOf(resource)} ${key} is not cached: it is gone, or was never seen.`, fed];
  }
  const { creationTimestamp, resourceVersion } = object.metadata;
  const created = timeMs(creationTimestamp);
  const age = created === 0 ? '' : `, made ${durationText(now - created)} ago`;
  const seen = `It is cached at version ${resourceVersion}${age}. ${fed}`;
  return [seen, ...sightOf(resource, object, now)];
}

function familySentences({ owners, dependents, moreDependents }: Explanation): string[] {
  const sentences: string[] = [];
  for (const { kind, key, resource } of owners) {
    const missing = resource === '' ? ', which is not cached (it may be gone)' : '';
    sentences.push(`It belongs to ${kind} ${key}${missing}.`);
  }
  if (dependents.length === 0) return sentences;
  const more = moreDependents ? 'more than ' : '';
  return [...sentences, `It owns ${more}${countedKinds(dependents)}: ${namedSome(dependents)}.`];
}

/** "3 Pods (2 Running, 1 Pending)". */
function countedKinds(relatives: readonly Relative[]): string {
  const kinds = Map.groupBy(relatives, ({ resource, kind }) => kind || kindOf(resource));
  const texts = [...kinds].map(([kind, each]) => {
    const phases = [...Map.groupBy(each, ({ phase }) => phase)].filter(([phase]) => phase !== '');
    const inside = phases.map(([phase, some]) => `${some.length} ${phase}`).join(', ');
    return `${each.length} ${kind}${each.length === 1 ? '' : 's'}${inside ? ` (${inside})` : ''}`;
  });
  return texts.join(' and ');
}

function namedSome(relatives: readonly Relative[]): string {
  const names = relatives.slice(0, EXPLAIN_NAMED_MAX).map(({ key }) => key);
  const rest = Math.min(relatives.length, EXPLAIN_RELATIVES_MAX) - names.length;
  return rest > 0 ? `${names.join(', ')} and ${rest} more` : names.join(', ');
}

function whoOf({ queue }: WorkRow): string {
  return controllerOfQueue(queue) || `the queue ${queue}`;
}

/** "now", or "in 5s (at 2026-01-01T00:10:05Z)". */
function dueSentence(at: number, now: number): string {
  return at <= now ? 'now' : `${dueText(at, now)} (at ${momentText(at)})`;
}

function failureSentences(work: readonly WorkRow[], now: number, what = 'it'): string[] {
  return work
    .filter(({ failures }) => failures > 0)
    .map((row) => {
      const times = row.failures === 1 ? 'once' : `${row.failures} times in a row`;
      const why = row.lastError === '' ? '' : `, last with: ${oneLine(row.lastError)}`;
      const next = row.dirty && row.dueAt === 0 ? 'now' : dueSentence(row.dueAt, now);
      return `${whoOf(row)} has failed on ${what} ${times}${why}. It is tried again ${next}.`;
    });
}

function waitSentences(found: Explanation, now: number): string[] {
  return [
    ...found.work
      .filter(({ failures }) => failures === 0)
      .map((row) => {
        const why = row.because === '' ? '' : `, because ${row.because}`;
        return `${whoOf(row)} looks at it ${dueSentence(row.dueAt, now)}${why}.`;
      }),
    ...found.expectations.filter(isOpen).map((row) => expectationSentence(row, now)),
    ...found.intents.map((row) => intentSentence(row, now)),
    ...found.ownWrites.flatMap((row) => ownWriteSentence(row, found)),
    ...found.memory
      .filter(({ expiresAt }) => expiresAt > now)
      .map((row) => `${row.controller} remembers ${row.value} ${dueSentence(row.expiresAt, now)}.`)
      .map((text) => text.replace(/ in (\S+) \(at/, ' for another $1 (until')),
  ];
}

function isOpen({ adds, deletes, deleteKeys }: ExpectationRow): boolean {
  return adds > 0 || deletes > 0 || deleteKeys.length > 0;
}

function expectationSentence(row: ExpectationRow, now: number): string {
  const parts = [counted(row.adds, 'creation'), counted(row.deletes, 'deletion')];
  if (row.deletes <= 0 && row.deleteKeys.length > 0) {
    parts.push(counted(row.deleteKeys.length, 'deletion'));
  }
  const what = parts.filter((part) => part !== '').join(' and ') || 'nothing more';
  const until = row.setAt + EXPECTATION_TIMEOUT_MS;
  const end = until <= now ? 'that wait has run out' : `at most until ${momentText(until)}`;
  return `${row.controller} asked for ${what} ${ageText(row.setAt, now)} ago and waits to see it, ${end}.`;
}

function counted(amount: number, what: string): string {
  if (amount <= 0) return '';
  return `${amount} ${what}${amount === 1 ? '' : 's'}`;
}

function intentSentence(row: IntentRow, now: number): string {
  const name = row.namespace === '' ? row.name : `${row.namespace}/${row.name}`;
  const what = `${row.controller} announced to ${row.verb} ${row.resource} ${name}`;
  if (row.sentAt === 0) return `${what} and has not sent it yet.`;
  const until = row.sentAt + INTENT_EXPIRY_MS;
  const end = until <= now ? 'that has run out' : `it counts until ${momentText(until)}`;
  return `${what}, sent it ${ageText(row.sentAt, now)} ago and has no answer; ${end}.`;
}

/** None once the cache has reached the version: the row then says nothing any more. */
function ownWriteSentence(row: OwnWriteRow, { points }: Explanation): string[] {
  const at = points.find((each) => each.resource === row.resource)?.resourceVersion;
  if (at !== undefined && compareVersions(at, row.resourceVersion) >= 0) return [];
  const stand = at === undefined ? '' : ` (it stands at ${at})`;
  return [
    `${row.controller} wrote to ${row.resource} and looks again once that cache has reached ` +
      `version ${row.resourceVersion}${stand}.`,
  ];
}

function isLacking({ resource, object }: Explanation): boolean {
  return object !== undefined && lacksSomething(resource, object);
}

/** What fails and what lacks something below it, the failing first. */
function belowSentences({ below }: Explanation, now: number): string[] {
  const failing = below.flatMap(({ resource, key, object, failing: rows }) =>
    failureSentences(rows, now, `${kindOf(resource, object)} ${key} below it`),
  );
  const lacking = below
    .filter(({ resource, object }) => lacksSomething(resource, object))
    .map(({ resource, key, object }) => {
      const sight = sightOf(resource, object, now).map(asClause).join('; ');
      return `${kindOf(resource, object)} ${key} below it: ${oneLine(sight)}.`;
    });
  const named = (sentences: readonly string[], what: string): string[] => {
    const rest = sentences.length - EXPLAIN_NAMED_MAX;
    const more = rest > 0 ? [`${rest} more below it ${what}.`] : [];
    return [...sentences.slice(0, EXPLAIN_NAMED_MAX), ...more];
  };
  return [...named(failing, 'fail'), ...named(lacking, 'lack something')];
}

/** "It is Pending." as a part of a sentence. */
function asClause(sentence: string): string {
  return sentence.replace(/^It /, 'it ').replace(/\.$/, '');
}

function quietSentences(found: Explanation, failures: readonly string[]): string[] {
  if (found.object === undefined || failures.length > 0) return [];
  if (found.below.some(({ failing }) => failing.length > 0)) return [];
  if (isLacking(found)) {
    return [
      'Nothing is awaited and no queue holds it: Holdfast has done what it can, and looks again ' +
        'when something of this changes.',
    ];
  }
  return ['Nothing is awaited and no queue holds it: for Holdfast it is as it should be.'];
}

/** The last thing that each controller did, and the last failure that is in the journal. */
function lastSentences({ journal, resource, key }: Explanation, now: number): string[] {
  const lastOf = new Map<string, JournalEntry>();
  for (const row of journal) if (!lastOf.has(row.controller)) lastOf.set(row.controller, row);
  return [...lastOf.values()].map((row) => {
    const ago = durationText(now - row.startedAt);
    if (row.outcome === 'error') {
      return `${row.controller} last tried it ${ago} ago and failed: ${oneLine(row.error)}`;
    }
    const about = row.writes.find((each) => each.resource === resource && isNamed(each, key));
    const write = about ?? row.writes.at(-1);
    if (write === undefined) {
      const why = row.because === '' ? '' : `, because ${row.because}`;
      return `${row.controller} last looked at it ${ago} ago (${row.outcome}${why}).`;
    }
    const name = write.namespace === '' ? write.name : `${write.namespace}/${write.name}`;
    const ended = write.outcome === 'ok' ? '' : ` That failed: ${oneLine(write.outcome)}`;
    return (
      `${row.controller} last acted ${ago} ago: ${write.verb} ${write.resource} ${name}, ` +
      `because ${write.because}.${ended}`
    );
  });
}

function isNamed(write: { namespace: string; name: string }, key: string): boolean {
  return key === (write.namespace === '' ? write.name : `${write.namespace}/${write.name}`);
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ');
}
