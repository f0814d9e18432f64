/** The table must put the right figures side by side. */
import { expect, test } from 'bun:test';
import { megabytes, seconds, tableOf, within } from './figures.ts';
import { pictureOf } from './picture.ts';

function cellsOf(table: string, what: string): string[] {
  const line = table.split('\n').find((text) => text.includes(what)) ?? '';
  return line.split('│').map((cell) => cell.trim());
}

test('figures of both subjects stand in one row with their ratio', () => {
  const table = tableOf([
    { subject: 'reference', figures: [seconds('restart', 18_000), megabytes('bytes', 2e6)] },
    { subject: 'holdfast', figures: [seconds('restart', 900)] },
  ]);
  expect(cellsOf(table, 'restart')).toEqual(['', 'restart', 's', '18.0', '0.900', '0.05', '', '']);
  expect(cellsOf(table, 'bytes')).toEqual(['', 'bytes', 'MB', '2.00', '', '', '', '']);
});

test('a goal is met or missed, in itself and as a ratio', () => {
  const goal = { ratioMax: 1 / 15, max: 1.5 };
  const judge = (reference: number, holdfast: number): string | undefined => {
    const figure = (ms: number) => within(goal, seconds('first pod', ms));
    const table = tableOf([
      { subject: 'reference', figures: [figure(reference)] },
      { subject: 'holdfast', figures: [figure(holdfast)] },
    ]);
    return cellsOf(table, 'first pod')[6];
  };
  expect(judge(30_000, 900)).toBe('ratio ≤ 0.067, ≤ 1.5: met');
  expect(judge(30_000, 1_600)).toEndWith('missed');
  expect(judge(12_000, 900)).toEndWith('missed');
  const nothing = (subject: 'reference' | 'holdfast') => ({
    subject,
    figures: [within({ max: 1 }, megabytes('idle', 0))],
  });
  const idle = tableOf([nothing('reference'), nothing('holdfast')]);
  expect(cellsOf(idle, 'idle')[6]).toBe('≤ 1: met');
  const alone = [{ subject: 'holdfast', figures: [within(goal, seconds('x', 1))] }] as const;
  expect(cellsOf(tableOf(alone), 'x')[6]).toBe('ratio ≤ 0.067, ≤ 1.5');
});

test('the picture has a bar of each subject, on one scale, and text as text', () => {
  const picture = pictureOf('a < b & c', [
    { subject: 'reference', figures: [seconds('restart', 20_000), megabytes('bytes', 2e6)] },
    { subject: 'holdfast', figures: [seconds('restart', 5_000)] },
  ]);
  const widths = [
    ...picture.matchAll(/class="(\w+)" x="390" y="\d+" width="([\d.]+)" height="12" rx/g),
  ]
    .map(([, kind, width]) => [kind, Number(width)] as const)
    .filter(([, width]) => width > 12);
  expect(widths).toEqual([
    ['reference', 380],
    ['holdfast', 95],
  ]);
  expect(picture).toContain('a &lt; b &amp; c');
  expect(picture).not.toContain('bytes');
});
