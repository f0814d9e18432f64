/** Serving the pages: `/`, and what is told about one object as HTML, text or JSON. */
import type { Env, Hono } from 'hono';
import type { StatusPort } from '../../runtime/status.ts';
import { toldText } from '../../runtime/told.ts';
import { explainPage, noSuchPage } from './explain.tsx';
import { overviewPage } from './overview.tsx';
import { POLICY } from './style.ts';

const EXPLAIN = '/debug/holdfast/explain/';
const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': POLICY,
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};
const TEXT = {
  'Content-Type': 'text/plain; charset=utf-8',
  'X-Content-Type-Options': 'nosniff',
};

/** Adds the pages to an application that has its guard already. */
export function addPages<E extends Env>(
  app: Hono<E>,
  status: Pick<StatusPort, 'overview' | 'explain'>,
): void {
  app.get('/', (c) => c.body(overviewPage(status.overview()), 200, HEADERS));
  app.get(`${EXPLAIN}*`, (c) => {
    const word = decoded(new URL(c.req.url).pathname.slice(EXPLAIN.length));
    const form = formOf(c.req.header('accept'));
    const answer =
      word === undefined ? { problem: 'the path is not well escaped' } : status.explain(word);
    if ('problem' in answer) {
      const { problem } = answer;
      if (form === 'html') return c.body(noSuchPage(problem), 404, HEADERS);
      return form === 'json' ? c.json({ problem }, 404) : c.body(`${problem}\n`, 404, TEXT);
    }
    const { told, resource, key } = answer;
    if (form === 'html') return c.body(explainPage(told), 200, HEADERS);
    return form === 'json' ? c.json({ resource, key, ...told }) : c.body(toldText(told), 200, TEXT);
  });
}

/** Browsers name HTML; programs that want JSON say so; everybody else is given text. */
function formOf(accept = ''): 'html' | 'json' | 'text' {
  if (accept.includes('text/html')) return 'html';
  return accept.includes('application/json') ? 'json' : 'text';
}

function decoded(path: string): string | undefined {
  try {
    return path.split('/').map(decodeURIComponent).join('/');
  } catch {
    return undefined;
  }
}
