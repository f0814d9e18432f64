import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { SECTIONS } from './flags.ts';
import { helpText } from './help.ts';

/** What kube-controller-manager 1.36.3 prints on a terminal of 80 columns, up to a section. */
const DEBUGGING_ON_80_COLUMNS = `Debugging flags:

      --contention-profiling${' '.repeat(43)}
                Enable block profiling, if profiling is enabled
      --profiling${' '.repeat(54)}
                Enable profiling via web interface host:port/debug/pprof/
                (default true)

Leader-migration flags:
`;

/** SHA-256 of the reference's text from "Usage:" on, by the columns of its terminal. */
const widths: Record<string, string> = JSON.parse(
  readFileSync(new URL('./testdata/help-widths-v1.36.3.json', import.meta.url), 'utf8'),
);

describe('help on a terminal', () => {
  test('is wrapped as upstream wraps it', () => {
    const text = helpText('kube-controller-manager', 80);
    expect(text).toContain(DEBUGGING_ON_80_COLUMNS);
  });

  test.each(Object.entries(widths))('of %s columns is the reference text', (columns, hash) => {
    const text = helpText('kube-controller-manager', Number(columns));
    const usage = text.slice(text.indexOf('Usage:\n'));
    const shared = usage.replace(/\nState flags:\n[\s\S]*?(?=\nGlobal flags:)/, '');
    expect(createHash('sha256').update(shared).digest('hex')).toBe(hash);
  });

  test('loses no word, whatever the width', () => {
    const words = (columns: number) => helpText('x', columns).split(/\s+/).join(' ');
    for (const columns of [30, 50, 79, 133]) expect(words(columns)).toBe(words(0));
  });

  test('every section has flags, and each flag stands in one section', () => {
    const names = SECTIONS.flatMap(({ rows }) => rows.map(({ name }) => name));
    expect(new Set(names).size).toBe(names.length);
    expect(SECTIONS.every(({ rows }) => rows.length > 0)).toBe(true);
  });
});
