/** Gathers what the page at `/` shows, and what is told about one object. */
import type { Elector } from '../lease/index.ts';
import type { Clock } from '../runtime/clock.ts';
import {
  EXPLAIN_JOURNAL_LOOK_MAX,
  OVERVIEW_FAILING_ROWS_MAX,
  OVERVIEW_JOURNAL_ROWS_MAX,
  OVERVIEW_WATCH_ROWS_MAX,
} from '../runtime/limits.ts';
import type { FailingView, ObjectLink, Overview, QueueView, Some } from '../runtime/overview.ts';
import type { QueueSummary } from '../runtime/queue/summary.ts';
import type { ExplainAnswer } from '../runtime/status.ts';
import { mayServe, type Subject, subjectOfWork, subjectsOfSync } from '../runtime/subjects.ts';
import { type Inspector, type OpenedStore, objectNamed, tell } from '../store/index.ts';
import type { Leadership } from './leadership.ts';

/** The parts that know. */
export interface OverviewDeps {
  readonly version: string;
  readonly startedAt: number;
  readonly clock: Clock;
  readonly leadership: Leadership;
  readonly opened: OpenedStore;
  readonly elector: Elector;
}

type Summary = QueueSummary & { readonly controller: string };

/** The process at this moment; every list is bounded. Reads a few rows of the file, never writes. */
export function overviewOf(deps: OverviewDeps): Overview {
  const { clock, leadership, opened, elector, version, startedAt } = deps;
  const { manager, informers } = leadership;
  const summaries: Summary[] = manager
    .hosts()
    .flatMap((host) => host.queueSummaries().map((each) => ({ controller: host.name, ...each })));
  const watches = informers.statuses();
  const known = watches.map(({ resource }) => resource);
  const place = (subject: Subject | undefined) => linkOf(subject, known);
  return {
    now: clock.now(),
    startedAt,
    version,
    lease: elector.leaseInfo(),
    queues: summaries.map(({ worst: _, ...each }): QueueView => each),
    failing: failingOf(summaries, place),
    watches: { rows: watches.slice(0, OVERVIEW_WATCH_ROWS_MAX), total: watches.length },
    store: opened.store.health(),
    ...journalOf(opened, (controller, key) => {
      const subjects = subjectsOfSync(controller, key).flatMap((each) => place(each) ?? []);
      const cached = subjects.find((each) => informers.holds(each.resource, each.key));
      return cached ?? (subjects.length === 1 ? subjects[0] : undefined);
    }),
  };
}

function failingOf(
  summaries: readonly Summary[],
  place: (subject: Subject | undefined) => ObjectLink | undefined,
): Some<FailingView> {
  const rows = summaries.flatMap(({ controller, id, worst }) =>
    worst.map((each) => ({
      controller,
      queue: id,
      ...each,
      object: place(subjectOfWork(id, each.key)),
    })),
  );
  rows.sort((a, b) => b.failures - a.failures);
  return {
    rows: rows.slice(0, OVERVIEW_FAILING_ROWS_MAX),
    total: summaries.reduce((sum, { failing }) => sum + failing, 0),
  };
}

/** Where the object of a key is told about; of a kind the watched resource that serves it. */
function linkOf(subject: Subject | undefined, known: readonly string[]): ObjectLink | undefined {
  if (subject === undefined) return undefined;
  const { kind, group, key } = subject;
  const resource = subject.resource || known.find((id) => mayServe(id, kind, group));
  return resource === undefined || resource === '' ? undefined : { resource, key };
}

function journalOf(
  opened: OpenedStore,
  place: (controller: string, key: string) => ObjectLink | undefined,
): Pick<Overview, 'journal' | 'journalProblem'> {
  try {
    const rows = inspecting(opened, (inspector) =>
      inspector.journal({ limit: OVERVIEW_JOURNAL_ROWS_MAX }),
    );
    const journal = rows.map((row) => ({ ...row, object: place(row.controller, row.key) }));
    return { journal, journalProblem: '' };
  } catch (error) {
    return { journal: [], journalProblem: error instanceof Error ? error.message : String(error) };
  }
}

function inspecting<T>(opened: OpenedStore, read: (inspector: Inspector) => T): T {
  const inspector = opened.inspector();
  try {
    return read(inspector);
  } finally {
    inspector.close();
  }
}

/**
 * What `holdfast state explain` says about an object, read quickly: children come from the caches'
 * own indexes, and of the journal only the newest rows are looked through.
 */
export function explainIn(deps: OverviewDeps, word: string): ExplainAnswer {
  const { informers } = deps.leadership;
  return inspecting(deps.opened, (inspector) => {
    const named = objectNamed(inspector, word);
    if ('problem' in named) return named;
    const found = inspector.explain(named.resource, named.key, {
      dependentsOf: (uid, limit) => informers.dependentsOf(uid, limit),
      journalRows: EXPLAIN_JOURNAL_LOOK_MAX,
    });
    return { ...named, told: tell(found, deps.clock.now()) };
  });
}
