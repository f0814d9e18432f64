/** How the pages look in a real Chromium without JavaScript: narrow and wide, light and dark. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { explainPage } from '../../src/http/page/explain.tsx';
import { overviewPage } from '../../src/http/page/overview.tsx';
import { POLICY } from '../../src/http/page/style.ts';
import {
  failingView,
  queueView,
  sampleOverview,
  sampleTold,
  syncView,
  watchView,
} from '../../src/http/testing/overview.ts';
import { Browser, chromium, inFront } from './browser.ts';

setDefaultTimeout(120_000);

const LONG = 'a-name-without-any-place-to-break-'.repeat(6);
const HOSTILE = `<img src=x onerror="document.title='pwned'"><script>document.title='pwned'</script>`;

const program = chromium();
if (program === undefined) console.log('without chromium: how the pages look is not tested');

/** Many rows, names that don't fit, names that would like to be markup. */
function crowded(): string {
  const failing = Array.from({ length: 120 }, (_, i) =>
    failingView(`${LONG}/${LONG}${i}`, { error: i % 2 === 0 ? HOSTILE : LONG }),
  );
  const watches = Array.from({ length: 200 }, (_, i) =>
    watchView(`${LONG}${i}.example.com`, { problem: i === 0 ? LONG : '' }),
  );
  return overviewPage(
    sampleOverview({
      failing: { rows: failing, total: 120 },
      watches: { rows: watches, total: 200 },
      queues: [queueView(LONG, LONG, { depth: 123_456, oldestMs: 9e9, syncsLastMinute: 99_999 })],
      journal: [
        syncView(`${LONG}/${LONG}`, { outcome: 'error', error: LONG }),
        syncView(HOSTILE, {
          because: HOSTILE,
          writes: [
            {
              verb: 'create',
              resource: LONG,
              namespace: LONG,
              name: LONG,
              because: HOSTILE,
              outcome: LONG,
            },
          ],
        }),
      ],
    }),
  );
}

const PAGES: Readonly<Record<string, () => string>> = {
  '/': () => overviewPage(sampleOverview()),
  '/crowded': crowded,
  '/explain': () => explainPage(sampleTold()),
  '/explain-long': () =>
    explainPage(
      sampleTold({
        title: `Deployment ${LONG}/${LONG}`,
        sentences: [HOSTILE, LONG],
        evidence: [{ title: 'Journal', lines: [LONG, HOSTILE] }],
      }),
    ),
};

describe.skipIf(program === undefined)('in Chromium', () => {
  let browser: Browser;
  let front: ReturnType<typeof inFront>;

  beforeAll(async () => {
    front = inFront(async (path) => {
      const headers = { 'Content-Type': 'text/html', 'Content-Security-Policy': POLICY };
      return new Response(PAGES[path]?.(), { headers });
    });
    browser = await Browser.start(program ?? '');
  });

  afterAll(async () => {
    await browser.close();
    front.stop();
  });

  const looks = [360, 1280].flatMap((width) =>
    (['light', 'dark'] as const).flatMap((scheme) =>
      Object.keys(PAGES).map((path) => [path, width, scheme] as const),
    ),
  );

  test.each(looks)('%s at %d px, %s', async (path, width, scheme) => {
    const shown = await browser.show(front.url + path, { width, scheme });
    expect(shown.complaints).toEqual([]);
    expect(shown.contentWidth).toBeLessThanOrEqual(width);
    expect(shown.background).toBe(scheme === 'light' ? 'rgb(247, 247, 245)' : 'rgb(20, 23, 26)');
    expect(shown.text).toContain('Holdfast');
  });

  test('the sheet counts: without it the page is another', async () => {
    const bare = inFront(async () => {
      const policy = "default-src 'none'";
      const headers = { 'Content-Type': 'text/html', 'Content-Security-Policy': policy };
      return new Response(overviewPage(sampleOverview()), { headers });
    });
    const shown = await browser.show(bare.url, { width: 1280, scheme: 'light' });
    bare.stop();
    expect(shown.complaints.join()).toContain('Content Security Policy');
  });
});
