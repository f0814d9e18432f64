import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import {
  failingView,
  queueView,
  SHOWN_AT,
  sampleOverview,
  sampleTold,
  syncView,
  watchView,
} from '../testing/overview.ts';
import { explainPage, noSuchPage } from './explain.tsx';
import { overviewPage } from './overview.tsx';
import { POLICY, STYLE } from './style.ts';

const HOSTILE = `<script>alert("1")</script>'"&</table>`;

/** The text that a reader sees, without tags, in one line. */
function seen(html: string): string {
  return html
    .replace(/<style>.*?<\/style>/s, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');
}

/** Tags of the body in order, without attributes: what the data may never change. */
function tags(html: string): string[] {
  return [...html.matchAll(/<\/?([a-z0-9]+)/g)].map(([, name = '']) => name);
}

describe('the page at /', () => {
  test('says who leads, what fails, what is busy, what is watched, what was written and why', () => {
    const html = overviewPage(sampleOverview());
    expect(html).toStartWith('<!doctype html><html lang="en">');
    expect(html).toContain('<meta http-equiv="refresh" content="10"/>');
    const text = seen(html);
    expect(text).toContain('Holdfast leading for 3d3h');
    expect(text).toContain('kube-system/kube-controller-manager , term 4, won: instant');
    expect(text).toContain('shop/search deployment-controller 9× in 1m35s exceeded quota');
    expect(text).toContain('replicaset 3 420 ms 2 0 0 61 0');
    expect(text).toContain('widgets.example.com the server is currently unable');
    expect(text).toContain('1.8 MiB in 1,120 commits');
    expect(text).toContain('create pods shop/checkout-6d5f9c7b8-x2vqk : 2 of 5 pods are missing');
    expect(html).toContain('href="/debug/holdfast/explain/deployments.apps/shop/search"');
    expect(html).toContain('<title>2 failing · Holdfast, leading</title>');
  });

  test('what needs a look comes first', () => {
    const html = seen(overviewPage(sampleOverview()));
    const order = ['Failing', 'Controllers', 'Last reconciles', 'Watches', 'widgets'];
    const places = order.map((word) => html.indexOf(word, html.indexOf('last hour')));
    expect([...places].sort((a, b) => a - b)).toEqual(places);
    expect(html.indexOf('widgets')).toBeLessThan(html.indexOf('replicasets.apps 310'));
  });

  test('an empty process is told in words', () => {
    const none = { rows: [], total: 0 };
    const text = seen(
      overviewPage(sampleOverview({ queues: [], failing: none, watches: none, journal: [] })),
    );
    expect(text).toContain('Nothing is failing.');
    expect(text).toContain('None runs yet: the caches are still being read.');
    expect(text).toContain('Nothing is watched yet');
    expect(text).toContain('No reconcile has written anything yet.');
  });

  test('a standby says who leads, and since when', () => {
    const { lease } = sampleOverview();
    const standby = { ...lease, state: 'standby', holder: 'edge-8_x', since: SHOWN_AT - 60_000 };
    const none = { rows: [], total: 0 };
    const view = sampleOverview({ lease: standby as typeof lease, queues: [], failing: none });
    const text = seen(overviewPage(view));
    expect(text).toContain('standing by for 1m');
    expect(text).toContain('is held by edge-8_x , term 4, since 3d3h ago');
    expect(text).toContain('this process stands by and keeps its caches warm');
    expect(text).not.toContain('Nothing is failing');
    const nobody = { ...standby, holder: '' } as typeof lease;
    expect(seen(overviewPage({ ...view, lease: nobody }))).toContain('Nobody is known to hold');
    const alone = { ...lease, lease: '', how: 'unelected' };
    expect(seen(overviewPage({ ...view, lease: alone }))).toContain('Leads without election.');
  });

  test('a disk in trouble and a journal that can not be read are said', () => {
    const { store } = sampleOverview();
    const text = seen(
      overviewPage(
        sampleOverview({
          store: { ...store, problem: 'disk full', tornResources: ['pods'] },
          journal: [],
          journalProblem: 'SQLITE_CORRUPT',
        }),
      ),
    );
    expect(text).toContain('disk full To be listed anew: pods.');
    expect(text).toContain('SQLITE_CORRUPT');
  });

  test('of hundreds of rows it says how many there are', () => {
    const rows = Array.from({ length: 200 }, (_, i) => failingView(`shop/app-${i}`));
    const watches = Array.from({ length: 300 }, (_, i) => watchView(`r${i}.example.com`));
    const html = overviewPage(
      sampleOverview({
        failing: { rows, total: 4_321 },
        watches: { rows: watches, total: 512 },
        queues: Array.from({ length: 60 }, (_, i) => queueView(`c${i}`, `q${i}`)),
        journal: Array.from({ length: 40 }, (_, i) => syncView(`shop/s-${i}`)),
      }),
    );
    expect(seen(html)).toContain('Failing 200 of 4321');
    expect(seen(html)).toContain('Watches 300 of 512');
    expect(html.match(/<tr>/g)?.length).toBe(200 + 300 + 60 + 40 + 4);
    expect(html.length).toBeLessThan(1_000_000);
  });

  test('no value can become markup', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const word = `${HOSTILE}${text}`;
        const pages = [word, 'x'].map((value) =>
          overviewPage(
            sampleOverview({
              failing: {
                rows: [
                  failingView(value, { error: value, object: { resource: value, key: value } }),
                ],
                total: 1,
              },
              watches: { rows: [watchView(value, { problem: value })], total: 1 },
              queues: [queueView(value, value)],
              journal: [
                syncView(value, {
                  outcome: 'error',
                  error: value,
                  because: value,
                  writes: [
                    {
                      verb: value,
                      resource: value,
                      namespace: value,
                      name: value,
                      because: 'why',
                      outcome: value,
                    },
                  ],
                }),
              ],
            }),
          ),
        );
        expect(tags(pages[0] ?? '')).toEqual(tags(pages[1] ?? ''));
      }),
      { numRuns: 30 },
    );
  });
});

describe('the page about an object', () => {
  test('tells the sentences, the evidence and the way to its relatives', () => {
    const html = explainPage(sampleTold());
    const text = seen(html);
    expect(text).toContain('Deployment shop/search failing deployment-controller has failed');
    expect(text).toContain('Owned 1 ReplicaSet shop/search-7c9d');
    expect(html).toContain('href="/debug/holdfast/explain/replicasets.apps/shop/search-7c9d"');
    expect(text).not.toContain('Memory');
    expect(html).not.toContain('http-equiv="refresh"');
  });

  test('no value can become markup', () => {
    const relative = {
      relation: 'owner',
      kind: HOSTILE,
      resource: HOSTILE,
      key: `a/${HOSTILE}`,
    } as const;
    const html = explainPage(
      sampleTold({
        title: HOSTILE,
        sentences: [HOSTILE],
        evidence: [{ title: HOSTILE, lines: [HOSTILE] }],
        relatives: [relative],
      }),
    );
    expect(html).not.toContain('<script');
    expect(noSuchPage(HOSTILE)).not.toContain('<script');
    expect(html).toContain('&lt;script&gt;');
  });
});

test('the policy allows the sheet that the page has, and nothing that runs', () => {
  const html = overviewPage(sampleOverview());
  const sheet = /<style>(.*?)<\/style>/s.exec(html)?.[1] ?? '';
  expect(sheet).toBe(STYLE);
  const hash = createHash('sha256').update(sheet).digest('base64');
  expect(POLICY).toContain(`style-src 'sha256-${hash}'`);
  expect(POLICY).toStartWith("default-src 'none'");
  expect(html).not.toMatch(/<script|\sstyle=|\son[a-z]+=/);
});
