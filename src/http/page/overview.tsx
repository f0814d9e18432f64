/** @jsxImportSource hono/jsx */
/** The page at `/`: who leads, what fails, how busy the controllers are, how fresh the caches. */
import { bytesText, durationText } from '../../runtime/age.ts';
import { OVERVIEW_REFRESH_SECONDS } from '../../runtime/limits.ts';
import type { LeaseView, Overview } from '../../runtime/overview.ts';
import { Ago, Heading, pageText } from './layout.tsx';
import { Controllers, Failing, Reconciles, StateFile, Watches } from './sections.tsx';

/** A watch that has heard nothing for longer is worth a look: bookmarks come each minute. */
const LAG_WORTH_A_LOOK_MS = 180_000;
const PATHS = ['/healthz?verbose', '/statusz', '/metrics', '/configz', '/flagz', '/debug/holdfast'];

/** The page as HTML. */
export function overviewPage(view: Overview): string {
  return pageText({
    title: titleOf(view),
    refresh: OVERVIEW_REFRESH_SECONDS,
    children: <Body view={view} />,
  });
}

function titleOf({ lease, failing }: Overview): string {
  const failed = failing.total === 0 ? '' : `${failing.total} failing · `;
  return `${failed}Holdfast, ${stateText(lease)}`;
}

function stateText({ state }: LeaseView): string {
  return state === 'standby' ? 'standing by' : state;
}

function Body({ view }: { view: Overview }) {
  return (
    <>
      <Head view={view} />
      <main>
        <Tiles view={view} />
        <Problems view={view} />
        <Failing view={view} />
        <Controllers view={view} />
        <Reconciles view={view} />
        <Watches view={view} />
        <StateFile view={view} />
      </main>
      <footer>
        <p class="paths">
          {PATHS.map((path) => (
            <a href={path}>{path}</a>
          ))}
        </p>
        <p>
          As of {new Date(view.now).toUTCString()}; read again every {OVERVIEW_REFRESH_SECONDS} s.
          Rates of controllers are of the last minute.
        </p>
      </footer>
    </>
  );
}

function Head({ view }: { view: Overview }) {
  const { lease, now } = view;
  const kind = lease.state === 'leading' ? 'good' : 'warn';
  return (
    <header>
      <div class="brand">
        <h1>Holdfast</h1>
        <span class={`pill ${kind}`}>{stateText(lease)}</span>
        <span>for {durationText(now - lease.since)}</span>
      </div>
      <p class="sub">
        <HolderText lease={lease} now={now} />
      </p>
      <p class="sub">
        <span class="mono">{lease.identity}</span>, version {view.version}, up for{' '}
        {durationText(now - view.startedAt)}
      </p>
    </header>
  );
}

function HolderText({ lease, now }: { lease: LeaseView; now: number }) {
  if (lease.lease === '') return <>Leads without election.</>;
  const name = <span class="mono">{lease.lease}</span>;
  if (lease.state === 'leading') {
    return (
      <>
        Holds the Lease {name}, term {lease.term}, won: {lease.how}; renewed{' '}
        {durationText(lease.renewedAgoMs ?? 0)} ago
      </>
    );
  }
  if (lease.holder === '') return <>Nobody is known to hold the Lease {name}.</>;
  return (
    <>
      The Lease {name} is held by <span class="mono">{lease.holder}</span>, term {lease.term}, since{' '}
      <Ago at={lease.holderSince} now={now} />
    </>
  );
}

function Tiles({ view }: { view: Overview }) {
  const { queues, failing, watches, store, now } = view;
  const sum = (of: (queue: Overview['queues'][number]) => number): number =>
    queues.reduce((total, queue) => total + of(queue), 0);
  const oldest = Math.max(0, ...queues.map(({ oldestMs }) => oldestMs));
  const behind = watches.rows.filter(
    ({ problem, caughtUp, lastEventAt }) =>
      problem !== '' || !caughtUp || now - lastEventAt > LAG_WORTH_A_LOOK_MS,
  ).length;
  const number = (count: number): string => count.toLocaleString('en');
  return (
    <dl class="tiles">
      <Tile title="Failing keys" value={number(failing.total)} bad={failing.total > 0} />
      <Tile title="Waiting keys" value={number(sum(({ depth }) => depth))} />
      <Tile title="Oldest waits" value={oldest === 0 ? '–' : durationText(oldest)} />
      <Tile
        title="Syncs in a minute"
        value={number(sum(({ syncsLastMinute }) => syncsLastMinute))}
      />
      <Tile title="Watches behind" value={number(behind)} unit={`of ${watches.total}`} />
      <Tile title="Written in an hour" value={bytesText(store.bytesLastHour)} />
    </dl>
  );
}

interface TileProps {
  readonly title: string;
  readonly value: string;
  readonly unit?: string;
  readonly bad?: boolean;
}

function Tile({ title, value, unit, bad = false }: TileProps) {
  return (
    <div class="tile">
      <dt>{title}</dt>
      <dd class={bad ? 'bad' : undefined}>
        {value}
        {unit === undefined ? null : <small> {unit}</small>}
      </dd>
    </div>
  );
}

function Problems({ view }: { view: Overview }) {
  const { problem, tornResources } = view.store;
  if (problem === '' && tornResources.length === 0) return null;
  return (
    <>
      <Heading title="State file" />
      <p class="note bad">
        {problem || 'The disk takes what it is given again.'}
        {tornResources.length === 0 ? null : ` To be listed anew: ${tornResources.join(', ')}.`}
      </p>
    </>
  );
}
