/** The table must put the right figures side by side. */
import { expect, test } from 'bun:test';
import { megabytes, seconds, tableOf } from './figures.ts';

test('figures of both subjects stand in one row with their ratio', () => {
  const table = tableOf([
    { subject: 'reference', figures: [seconds('restart', 18_000), megabytes('bytes', 2e6)] },
    { subject: 'holdfast', figures: [seconds('restart', 900)] },
  ]);
  const row = (what: string) => {
    const line = table.split('\n').find((text) => text.includes(what)) ?? '';
    return line.split('│').map((cell) => cell.trim());
  };
  expect(row('restart')).toEqual(['', 'restart', 's', '18.0', '0.900', '0.05', '']);
  expect(row('bytes')).toEqual(['', 'bytes', 'MB', '2.00', '', '', '']);
});
