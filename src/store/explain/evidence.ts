/** The rows behind an explanation, one line each. */
import { ageText, dueText, durationText, momentText } from '../../runtime/age.ts';
import { controllerOfQueue } from '../../runtime/subjects.ts';
import type { Evidence } from '../../runtime/told.ts';
import type { Explanation, Relative } from './rows.ts';
import { conditionLines, kindOf } from './sight.ts';

const SECOND_MS = 1_000;

/** Groups of rows, in the order of the sentences; a group without rows has no lines. */
export function evidenceOf(found: Explanation, now: number): Evidence[] {
  const memory = found.memory.map(
    (row) => `${row.controller}: ${row.value} (${ageText(row.updatedAt, now)} ago)`,
  );
  return [
    { title: 'Object', lines: objectLines(found) },
    { title: 'Conditions', lines: found.object === undefined ? [] : conditionLines(found.object) },
    { title: 'Work', lines: workLines(found, now) },
    { title: 'Waiting for', lines: waitLines(found, now) },
    { title: 'Memory', lines: memory },
    { title: 'Journal, newest first', lines: journalLines(found) },
  ];
}

function objectLines({ object, resource, owners, dependents, moreDependents }: Explanation) {
  if (object === undefined) return [];
  const { uid, resourceVersion } = object.metadata;
  const lines = [`${resource}, uid ${uid}, version ${resourceVersion}`];
  if (owners.length > 0) lines.push(`owned by ${owners.map(relativeText).join(', ')}`);
  const more = moreDependents ? ', …' : '';
  if (dependents.length > 0) lines.push(`owns ${dependents.map(relativeText).join(', ')}${more}`);
  return lines;
}

function relativeText({ kind, key, resource }: Relative): string {
  const name = `${kind || kindOf(resource)} ${key}`;
  return resource === '' ? `${name} (not cached)` : name;
}

function workLines({ work, key }: Explanation, now: number): string[] {
  return work.map((row) => {
    const failed = row.failures === 0 ? '' : `, failed ${row.failures} times: ${row.lastError}`;
    const why = row.because === '' ? '' : `, because ${row.because}`;
    const other = row.key === key ? '' : ` ${row.key}`;
    const of = controllerOfQueue(row.queue);
    const whose = of === '' ? '' : ` of ${of}`;
    return `queue ${row.queue}${whose}:${other} due ${dueText(row.dueAt, now)}${failed}${why}`;
  });
}

function waitLines({ expectations, intents, ownWrites }: Explanation, now: number): string[] {
  return [
    ...expectations.map((row) => {
      const pods = row.deleteKeys.length === 0 ? '' : ` of ${row.deleteKeys.join(', ')}`;
      return (
        `${row.controller} awaits ${row.adds} creations and ${row.deletes} deletions${pods}, ` +
        `asked for ${ageText(row.setAt, now)} ago`
      );
    }),
    ...intents.map((row) => {
      const sent = row.sentAt === 0 ? 'not sent yet' : `sent ${ageText(row.sentAt, now)} ago`;
      const name = row.namespace === '' ? row.name : `${row.namespace}/${row.name}`;
      return `${row.controller} announced to ${row.verb} ${row.resource} ${name}, ${sent}`;
    }),
    ...ownWrites.map(
      (row) => `${row.controller} must see ${row.resource} at version ${row.resourceVersion} first`,
    ),
  ];
}

function journalLines({ journal }: Explanation): string[] {
  return journal.flatMap((row) => {
    const took = durationMsText(row.durationMs);
    const why = row.error || row.because;
    const at = momentText(row.startedAt);
    const head = `${at} ${row.controller} ${row.key}: ${row.outcome} in ${took}`;
    const writes = row.writes.map((write) => {
      const name = write.namespace === '' ? write.name : `${write.namespace}/${write.name}`;
      return `    ${write.verb} ${write.resource} ${name}: ${write.outcome}, because ${write.because}`;
    });
    return [why === '' ? head : `${head}, because ${why}`, ...writes];
  });
}

function durationMsText(ms: number): string {
  return ms < SECOND_MS ? `${Math.round(ms)} ms` : durationText(ms);
}
