/** Makes docs/images anew: the page of a made-up process, as Chromium shows it. */
import { join } from 'node:path';
import { overviewPage } from '../src/http/page/overview.tsx';
import { sampleOverview } from '../src/http/testing/overview.ts';
import { Browser, chromium, inFront, type Look } from '../test/serving/browser.ts';

const FOLDER = join(import.meta.dir, '..', 'docs', 'images');
const SHOTS: readonly (Look & { readonly name: string })[] = [
  { name: 'page-light-wide', width: 1100, height: 1000, scheme: 'light' },
  { name: 'page-dark-narrow', width: 400, height: 1000, scheme: 'dark' },
];

const program = chromium();
if (program === undefined) throw new Error('chromium is not installed');
const front = inFront(async () => {
  const html = overviewPage(sampleOverview());
  return new Response(html, { headers: { 'Content-Type': 'text/html' } });
});
const browser = await Browser.start(program);
for (const { name, ...look } of SHOTS) {
  const shown = await browser.show(front.url, look);
  await Bun.write(join(FOLDER, `${name}.png`), await shown.png(false));
  console.log(`docs/images/${name}.png`);
}
await browser.close();
front.stop();
