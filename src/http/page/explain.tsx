/** @jsxImportSource hono/jsx */
/** The page about one object: what `holdfast state explain` says, with links to its relatives. */
import { EXPLAIN_JOURNAL_LOOK_MAX } from '../../runtime/limits.ts';
import type { Told, ToldRelative } from '../../runtime/told.ts';
import { explainPath, Heading, pageText } from './layout.tsx';

const PILLS: Readonly<Record<Told['verdict'], string>> = {
  failing: 'bad',
  waiting: 'warn',
  quiet: 'good',
  unknown: '',
};

/** The page as HTML. */
export function explainPage(told: Told): string {
  return pageText({ title: `${told.title} · Holdfast`, children: <Body told={told} /> });
}

/** The page for a word that names no object. */
export function noSuchPage(problem: string): string {
  return pageText({
    title: 'Nothing is known · Holdfast',
    children: (
      <>
        <Back />
        <p class="note">{problem}</p>
      </>
    ),
  });
}

function Back() {
  return (
    <header>
      <p class="up">
        <a href="/">Holdfast</a>
      </p>
    </header>
  );
}

function Body({ told }: { told: Told }) {
  const { title, verdict, sentences, relatives, evidence } = told;
  const owners = relatives.filter(({ relation }) => relation === 'owner');
  const children = relatives.filter(({ relation }) => relation === 'child');
  return (
    <>
      <header>
        <p class="up">
          <a href="/">Holdfast</a>
        </p>
        <div class="brand">
          <h1>{title}</h1>
          <span class={`pill ${PILLS[verdict]}`}>{verdict}</span>
        </div>
      </header>
      <main>
        <ol class="card told">
          {sentences.map((text) => (
            <li>{text}</li>
          ))}
        </ol>
        <Relatives title="Owners" relatives={owners} />
        <Relatives title="Owned" relatives={children} />
        {evidence
          .filter(({ lines }) => lines.length > 0)
          .map(({ title: group, lines }) => (
            <>
              <Heading title={group} />
              <pre class="card lines mono">{lines.join('\n')}</pre>
            </>
          ))}
      </main>
      <footer>
        <p>
          As of the last commit to the state file, and of the last{' '}
          {EXPLAIN_JOURNAL_LOOK_MAX.toLocaleString('en')} reconciles.{' '}
          <code>holdfast state explain</code> looks through all of them.
        </p>
      </footer>
    </>
  );
}

function Relatives({ title, relatives }: { title: string; relatives: readonly ToldRelative[] }) {
  if (relatives.length === 0) return null;
  return (
    <>
      <Heading title={title} count={String(relatives.length)} />
      <nav class="card relatives">
        {relatives.map((relative) => (
          <a href={explainPath(relative)}>
            {relative.kind} <span class="mono">{relative.key}</span>
          </a>
        ))}
      </nav>
    </>
  );
}
