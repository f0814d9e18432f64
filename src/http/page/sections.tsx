/** @jsxImportSource hono/jsx */
/** The sections of the page at `/`, what needs a look first in each. */
import { bytesText, dueText, durationText } from '../../runtime/age.ts';
import type { ReflectorStatus } from '../../runtime/informer/reflector-types.ts';
import type { Overview, QueueView, Some, SyncView } from '../../runtime/overview.ts';
import { Ago, type Cell, countCell, Heading, Key, Table } from './layout.tsx';

type Props = { readonly view: Overview };

const HOW: Readonly<Record<ReflectorStatus['how'], string>> = {
  none: 'not yet',
  resumed: 'resumed',
  listed: 'listed',
  delta: 'compared',
};

/** "5", or "5 of 12" if not all are listed. */
function shownOf({ rows, total }: Some<unknown>): string {
  return rows.length < total ? `${rows.length} of ${total}` : String(total);
}

/** A section that has nothing to list. */
function Nothing({ title, bad = false, why }: { title: string; bad?: boolean; why: string }) {
  return (
    <>
      <Heading title={title} />
      <p class={bad ? 'note bad' : 'note'}>{why}</p>
    </>
  );
}

/** Keys whose last sync failed, the most often failed first. */
export function Failing({ view }: Props) {
  const { rows, total } = view.failing;
  if (view.lease.state !== 'leading') return null;
  if (total === 0) return <Nothing title="Failing" why="Nothing is failing." />;
  return (
    <>
      <Heading title="Failing" count={shownOf(view.failing)} />
      <Table
        bad
        columns={[
          { title: 'Key', kind: 'wide' },
          { title: 'Failed', kind: 'num' },
          { title: 'Tried again', kind: 'tight' },
          { title: 'Last error', kind: 'wide' },
        ]}
        rows={rows.map((row) => [
          <>
            <Key text={row.key} object={row.object} />
            <small>{row.controller}</small>
          </>,
          `${row.failures}×`,
          dueText(row.dueAt, view.now),
          row.error,
        ])}
      />
    </>
  );
}

/** Controllers and their queues, busy ones first. */
export function Controllers({ view }: Props) {
  const { queues, lease } = view;
  if (queues.length === 0) {
    const why =
      lease.state === 'standby'
        ? 'None runs here: this process stands by and keeps its caches warm.'
        : 'None runs yet: the caches are still being read.';
    return <Nothing title="Controllers" why={why} />;
  }
  const sorted = [...queues].sort(byUrgency);
  return (
    <>
      <Heading title="Controllers" count={`${sorted.length} queues`} />
      <Table
        columns={[
          { title: 'Controller' },
          { title: 'Waiting', kind: 'num' },
          { title: 'Oldest', kind: 'num' },
          { title: 'Under way', kind: 'num' },
          { title: 'Delayed', kind: 'num' },
          { title: 'Failing', kind: 'num' },
          { title: 'Syncs/min', kind: 'num' },
          { title: 'Failed/min', kind: 'num' },
        ]}
        rows={sorted.map(queueRow)}
      />
    </>
  );
}

function byUrgency(a: QueueView, b: QueueView): number {
  return (
    b.failing - a.failing ||
    b.oldestMs - a.oldestMs ||
    b.syncsLastMinute - a.syncsLastMinute ||
    (a.controller + a.id < b.controller + b.id ? -1 : 1)
  );
}

function queueRow(queue: QueueView): Cell[] {
  const { longestMs, processing, id } = queue;
  const controller = queue.controller.replace(/-controller$/, '');
  const running = longestMs < 1_000 ? '' : `, ${durationText(longestMs)}`;
  return [
    <>
      {controller}
      {id === controller ? null : <span class="mono soft"> {id}</span>}
    </>,
    countCell(queue.depth),
    spanCell(queue.oldestMs),
    processing === 0 ? countCell(0) : `${processing}${running}`,
    countCell(queue.delayed),
    countCell(queue.failing, 'bad'),
    countCell(queue.syncsLastMinute),
    countCell(queue.failuresLastMinute, 'bad'),
  ];
}

function spanCell(ms: number): Cell {
  if (ms === 0) return { show: <span class="zero">–</span>, quiet: true };
  return ms < 1_000 ? `${Math.ceil(ms)} ms` : durationText(ms);
}

/** Watched resources, those in trouble first, then those that have heard nothing for longest. */
export function Watches({ view }: Props) {
  const { rows, total } = view.watches;
  if (total === 0) {
    const why = 'Nothing is watched yet: the API server is being asked.';
    return <Nothing title="Watches" why={why} />;
  }
  const sorted = [...rows].sort(byTrouble);
  return (
    <>
      <Heading title="Watches" count={shownOf(view.watches)} />
      <Table
        columns={[
          { title: 'Resource', kind: 'wide' },
          { title: 'Objects', kind: 'num' },
          { title: 'Last event', kind: 'num' },
          { title: 'Resume point', kind: 'num' },
          { title: 'Began', kind: 'tight' },
          { title: 'Lists', kind: 'num' },
          { title: 'Watches', kind: 'num' },
          { title: 'State', kind: 'tight' },
        ]}
        rows={sorted.map((row) => watchRow(row, view.now))}
      />
    </>
  );
}

function byTrouble(a: ReflectorStatus, b: ReflectorStatus): number {
  const trouble = ({ problem, caughtUp }: ReflectorStatus): number =>
    problem !== '' ? 2 : caughtUp ? 0 : 1;
  return (
    trouble(b) - trouble(a) || a.lastEventAt - b.lastEventAt || (a.resource < b.resource ? -1 : 1)
  );
}

function watchRow(row: ReflectorStatus, now: number): Cell[] {
  return [
    <>
      <span class="mono">{row.resource}</span>
      {row.problem === '' ? null : <small class="bad">{row.problem}</small>}
    </>,
    countCell(row.objects),
    <Ago at={row.lastEventAt} now={now} />,
    row.resourceVersion,
    HOW[row.how],
    countCell(row.lists),
    countCell(row.watches),
    <WatchState row={row} />,
  ];
}

function WatchState({ row }: { row: ReflectorStatus }) {
  if (row.problem !== '') return <span class="bad">failing</span>;
  if (!row.synced) return <span class="warn">being read</span>;
  return row.caughtUp ? <span class="good">current</span> : <span class="warn">catching up</span>;
}

/** Size and rate of the state file. */
export function StateFile({ view }: Props) {
  const { store } = view;
  const number = (count: number): string => count.toLocaleString('en');
  const facts: [string, string][] = [
    ['Opened', store.opened],
    ['Database', bytesText(store.databaseBytes)],
    ['Log', bytesText(store.walBytes)],
    [
      'Written in the last hour',
      `${bytesText(store.bytesLastHour)} in ${number(store.commitsLastHour)} commits`,
    ],
    [
      'Written since the start',
      `${bytesText(store.bytesWritten)} in ${number(store.commits)} commits`,
    ],
    [
      'Not written yet',
      `${number(store.pendingRows)} rows` +
        (store.commitErrors === 0 ? '' : `; ${number(store.commitErrors)} commits failed`),
    ],
  ];
  return (
    <>
      <Heading title="State file" />
      <div class="card">
        <dl class="facts">
          {facts.map(([title, text]) => (
            <div>
              <dt>{title}</dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
      </div>
    </>
  );
}

/** The last reconciles that wrote or failed, newest first. */
export function Reconciles({ view }: Props) {
  const { journal, journalProblem, now } = view;
  if (journal.length === 0) {
    const why = journalProblem === '' ? 'No reconcile has written anything yet.' : journalProblem;
    return <Nothing title="Last reconciles" bad={journalProblem !== ''} why={why} />;
  }
  return (
    <>
      <Heading title="Last reconciles" count="that wrote or failed, newest first" />
      <Table
        columns={[
          { title: 'Key', kind: 'wide' },
          { title: 'When', kind: 'tight' },
          { title: 'Took', kind: 'num' },
          { title: 'What and why', kind: 'wide' },
        ]}
        rows={journal.map((row) => [
          <>
            <Key text={row.key || '–'} object={row.object} />
            <small>{row.controller}</small>
          </>,
          <Ago at={row.startedAt} now={now} />,
          row.durationMs < 1_000
            ? `${Math.round(row.durationMs)} ms`
            : durationText(row.durationMs),
          <What row={row} />,
        ])}
      />
    </>
  );
}

/** Of many writes the first few say what is going on. */
const WRITES_SHOWN = 4;

function What({ row }: { row: SyncView }) {
  const { outcome, error, because, writes } = row;
  const rest = writes.length - WRITES_SHOWN;
  return (
    <>
      {outcome === 'ok' ? null : (
        <span class={outcome === 'error' ? 'bad' : 'warn'}>
          {outcome === 'error' ? error : `${outcome}${error === '' ? '' : `: ${error}`}`}
        </span>
      )}
      {because === '' || writes.some((write) => because.includes(write.because)) ? null : (
        <div>{because}</div>
      )}
      {writes.length === 0 ? null : (
        <ul class="plain">
          {writes.slice(0, WRITES_SHOWN).map((write) => (
            <li>
              {write.verb} {write.resource}{' '}
              <span class="mono">
                {write.namespace === '' ? write.name : `${write.namespace}/${write.name}`}
              </span>
              : {write.because}
              {write.outcome === 'ok' ? null : <span class="bad"> ({write.outcome})</span>}
            </li>
          ))}
          {rest > 0 ? <li>and {rest} more</li> : null}
        </ul>
      )}
    </>
  );
}
