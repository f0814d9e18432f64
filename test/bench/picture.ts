/** A benchmark as a picture: two bars a figure, the reference above, Holdfast below. */
import type { Figure, Report, Subject } from './figures.ts';
import { shown } from './figures.ts';

const WIDTH = 860;
const LABEL_WIDTH = 390;
const VALUE_WIDTH = 90;
const BAR_HEIGHT = 12;
const ROW_HEIGHT = 36;
const HEAD_HEIGHT = 58;
const BAR_SPACE = WIDTH - LABEL_WIDTH - VALUE_WIDTH;

const STYLE = `
  text { font: 13px ui-sans-serif, system-ui, sans-serif; fill: #1f2328; }
  .value { font-size: 11px; font-variant-numeric: tabular-nums; fill: #59636e; }
  .title { font-weight: 600; font-size: 15px; }
  .reference { fill: #b6bec8; }
  .holdfast { fill: #1a7f64; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .value { fill: #9198a1; }
    .reference { fill: #59636e; }
    .holdfast { fill: #3fb997; }
  }`;

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function measuredValue(
  reports: readonly Report[],
  subject: Subject,
  what: string,
): number | undefined {
  const report = reports.find((one) => one.subject === subject);
  return report?.figures.find((figure) => figure.what === what)?.value;
}

function bar(kind: Subject, value: number, most: number, unit: string, y: number): string {
  const width = Math.max(1, (value / most) * BAR_SPACE).toFixed(1);
  const text = `${shown(value)} ${unit}`;
  const at = LABEL_WIDTH + Number(width) + 6;
  return (
    `<rect class="${kind}" x="${LABEL_WIDTH}" y="${y}" width="${width}" height="${BAR_HEIGHT}" rx="2"/>` +
    `<text class="value" x="${at.toFixed(1)}" y="${y + BAR_HEIGHT - 2}">${escaped(text)}</text>`
  );
}

function row({ what, unit }: Figure, reference: number, holdfast: number, at: number): string {
  const y = HEAD_HEIGHT + at * ROW_HEIGHT;
  const most = Math.max(reference, holdfast, Number.MIN_VALUE);
  return [
    `<text x="${LABEL_WIDTH - 10}" y="${y + BAR_HEIGHT + 5}" text-anchor="end">${escaped(what)}</text>`,
    bar('reference', reference, most, unit, y),
    bar('holdfast', holdfast, most, unit, y + BAR_HEIGHT + 1),
  ].join('');
}

/** An SVG of all figures that both subjects have. Bars of one figure share a scale; less is better. */
export function pictureOf(title: string, reports: readonly Report[]): string {
  const figures = reports.find(({ subject }) => subject === 'holdfast')?.figures ?? [];
  const rows = figures.flatMap((figure) => {
    const reference = measuredValue(reports, 'reference', figure.what);
    return reference === undefined ? [] : [{ figure, reference }];
  });
  const height = HEAD_HEIGHT + rows.length * ROW_HEIGHT + 8;
  const legend = [
    `<rect class="reference" x="${LABEL_WIDTH}" y="34" width="12" height="10" rx="2"/>`,
    `<text class="value" x="${LABEL_WIDTH + 18}" y="43">kube-controller-manager</text>`,
    `<rect class="holdfast" x="${LABEL_WIDTH + 170}" y="34" width="12" height="10" rx="2"/>`,
    `<text class="value" x="${LABEL_WIDTH + 188}" y="43">Holdfast (less is better)</text>`,
  ].join('');
  const bars = rows.map(({ figure, reference }, at) => row(figure, reference, figure.value, at));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img">
<title>${escaped(title)}</title>
<style>${STYLE}
</style>
<text class="title" x="10" y="20">${escaped(title)}</text>
${legend}
${bars.join('\n')}
</svg>
`;
}
