/** How the pages look: one small sheet, light and dark, narrow and wide. */
import { createHash } from 'node:crypto';

/** The sheet; part of each page, allowed by its hash. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #f7f7f5; --card: #ffffff; --ink: #1d2125; --soft: #5d666f; --line: #e1e2de;
  --good: #1a6e44; --good-tint: #e4f2ea; --warn: #8a5a00; --warn-tint: #fbf0d9;
  --bad: #b3261e; --bad-tint: #fbe9e7; --link: #1f5f99;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171a; --card: #1b1f23; --ink: #e4e7ea; --soft: #98a2ab; --line: #2c3238;
    --good: #6fcf97; --good-tint: #173026; --warn: #e9b949; --warn-tint: #33290f;
    --bad: #ff8a80; --bad-tint: #3a1c1b; --link: #8ab8e6;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; padding: 0 1.25rem 3rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "Noto Sans", "Liberation Sans", sans-serif;
  font-variant-numeric: tabular-nums; -webkit-text-size-adjust: 100%;
}
body > * { max-width: 76rem; margin-left: auto; margin-right: auto; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
a:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 2px; }
code, .mono {
  font-family: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", monospace;
  font-size: .875em; overflow-wrap: anywhere;
}
header { padding: 1.5rem 0 1.25rem; }
.brand { display: flex; flex-wrap: wrap; align-items: center; gap: .4rem .9rem; }
h1 {
  font-size: 1.4rem; line-height: 1.25; margin: 0; letter-spacing: -.01em;
  overflow-wrap: anywhere;
}
.up { margin: 0 0 .5rem; }
h2 {
  font-size: .8rem; font-weight: 600; letter-spacing: .06em; text-transform: uppercase;
  color: var(--soft); margin: 2.25rem auto .6rem;
}
h2 .count { font-weight: 400; letter-spacing: 0; text-transform: none; margin-left: .35rem; }
.sub { color: var(--soft); margin: .3rem 0 0; overflow-wrap: anywhere; }
.pill {
  display: inline-block; padding: .1rem .6rem; border-radius: 1rem; font-size: .8125rem;
  font-weight: 600; white-space: nowrap; background: var(--line); color: var(--ink);
}
.pill.good { background: var(--good-tint); color: var(--good); }
.pill.warn { background: var(--warn-tint); color: var(--warn); }
.pill.bad { background: var(--bad-tint); color: var(--bad); }
.bad { color: var(--bad); } .warn { color: var(--warn); } .good { color: var(--good); }
.soft { color: var(--soft); }
.tiles {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: 1px;
  background: var(--line); border: 1px solid var(--line); border-radius: .5rem; overflow: hidden;
}
.tile { background: var(--card); padding: .8rem 1rem .9rem; }
.tile dt { color: var(--soft); font-size: .8125rem; }
.tile dd {
  margin: 0; font-size: 1.45rem; line-height: 1.3; font-weight: 600; letter-spacing: -.01em;
}
.tile dd small { font-size: .8125rem; font-weight: 400; color: var(--soft); letter-spacing: 0; }
.note {
  background: var(--card); border: 1px solid var(--line); border-radius: .5rem;
  padding: .7rem 1rem; margin-top: 0; margin-bottom: 0; overflow-wrap: anywhere;
}
.note.bad { border-color: var(--bad); background: var(--bad-tint); }
.card {
  background: var(--card); border: 1px solid var(--line); border-radius: .5rem; overflow: hidden;
}
.card.bad { border-color: var(--bad); color: inherit; }
table { width: 100%; border-collapse: collapse; }
th {
  text-align: left; font-size: .75rem; font-weight: 600; color: var(--soft); white-space: nowrap;
  padding: .5rem .75rem; border-bottom: 1px solid var(--line); vertical-align: bottom;
}
td { padding: .4rem .75rem; vertical-align: top; border-top: 1px solid var(--line); }
tbody tr:first-child td { border-top: 0; }
th:first-child, td:first-child { padding-left: 1rem; }
th:last-child, td:last-child { padding-right: 1rem; }
.num { text-align: right; white-space: nowrap; }
.zero { color: var(--soft); opacity: .55; }
td.wide { overflow-wrap: anywhere; }
td.tight { white-space: nowrap; }
td small { display: block; color: var(--soft); font-size: .8125rem; overflow-wrap: anywhere; }
ul.plain {
  list-style: none; margin: .15rem 0 0; padding: 0; color: var(--soft); font-size: .875rem;
}
ul.plain li { overflow-wrap: anywhere; }
.facts {
  display: grid; grid-template-columns: repeat(auto-fill, minmax(min(18rem, 100%), 1fr));
  margin: 0; padding: .3rem 0;
}
.facts div { padding: .4rem 1rem; min-width: 0; }
.facts dt { color: var(--soft); font-size: .8125rem; }
.facts dd { margin: 0; overflow-wrap: anywhere; }
ol.told { margin-top: 0; margin-bottom: 0; padding: .5rem 1rem; list-style: none; }
ol.told li { padding: .3rem 0; overflow-wrap: anywhere; }
.lines { padding: .6rem 1rem; margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
nav.relatives { display: flex; flex-wrap: wrap; gap: .3rem 1rem; padding: .6rem 1rem; }
nav.relatives a { overflow-wrap: anywhere; }
footer { margin-top: 2.5rem; color: var(--soft); font-size: .875rem; }
footer p { margin: .2rem 0; }
.paths { display: flex; flex-wrap: wrap; gap: .2rem 1rem; }
@media (max-width: 46rem) {
  body { padding: 0 .8rem 2rem; }
  header { padding: 1rem 0; }
  .tiles { grid-template-columns: repeat(2, 1fr); }
  .tile { padding: .6rem .8rem .7rem; }
  .tile dd { font-size: 1.2rem; }
  thead { display: none; }
  table, tbody { display: block; }
  tr {
    display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; padding: .6rem .8rem;
    border-top: 1px solid var(--line);
  }
  tbody tr:first-child { border-top: 0; }
  td, td:first-child, td:last-child {
    display: block; border: 0; padding: 0; text-align: left; min-width: 0;
  }
  td:first-child, td.wide { flex: 1 0 100%; max-width: 100%; }
  td[data-label]::before {
    content: attr(data-label) " "; color: var(--soft); font-size: .8125rem;
  }
  td.quiet { display: none; }
}
`;

/** The Content-Security-Policy of the pages: this sheet, an icon inside the page, nothing else. */
export const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
