/** The text of --help: sections and columns as upstream prints them. */

import type { FlagRow, FlagSection } from './flags/row.ts';
import { defaultOf, kindOf, SECTIONS } from './flags.ts';
import { quote } from './go/quote.ts';

const INTRO = `Holdfast is a kube-controller-manager that remembers: it runs the core control loops
shipped with Kubernetes, with the flags, names and endpoints of kube-controller-manager, and
keeps what it knows in a SQLite file, so that a restarted process carries on where the old
one stopped. In Kubernetes, a controller is a control loop that watches the shared state of
the cluster through the apiserver and makes changes attempting to move the current state
towards the desired state.`;

const WRAP_WIDTH_MIN = 24;
const BLOCK_INDENT = 16;
const SLOP = 5;

/** `[words to the break, rest]`; a rest that is only a little too long stays on the line. */
function cutLine(width: number, text: string): readonly [string, string] {
  if (width + SLOP > text.length) return [text, ''];
  const head = text.slice(0, width);
  const blank = Math.max(head.lastIndexOf(' '), head.lastIndexOf('\t'), head.lastIndexOf('\n'));
  if (blank <= 0) return [text, ''];
  const lineBreak = head.lastIndexOf('\n');
  const at = lineBreak > 0 && lineBreak < blank ? lineBreak : blank;
  return [text.slice(0, at), text.slice(at + 1)];
}

/** Breaks help text at `columns` (0: not at all), with later lines under the first one's start. */
function wrap(indent: number, columns: number, text: string): string {
  const pad = (count: number) => `\n${' '.repeat(count)}`;
  if (columns === 0) return text.replaceAll('\n', pad(indent));
  const narrow = columns - indent < WRAP_WIDTH_MIN;
  const margin = narrow ? BLOCK_INDENT : indent;
  const start = narrow ? pad(margin) : '';
  if (columns - margin < WRAP_WIDTH_MIN) return text.replaceAll('\n', start);
  const width = columns - margin - SLOP;
  const lines: string[] = [];
  let rest = text;
  do {
    const [line, after] = cutLine(width, rest);
    lines.push(line.replaceAll('\n', pad(margin)));
    rest = after;
  } while (rest !== '');
  return start + lines.join(pad(margin));
}

function headOf(row: FlagRow): string {
  const kind = kindOf(row);
  const short = row.shorthand === undefined ? '    ' : `-${row.shorthand}, `;
  const shown = kind.shown === '' ? '' : ` ${kind.shown}`;
  const bare = kind.bare === undefined || kind.shown === '' ? '' : `[=${kind.bare}]`;
  return `  ${short}--${row.name}${shown}${bare}`;
}

function defaultNote(row: FlagRow): string {
  const kind = kindOf(row);
  const text = kind.print(defaultOf(row));
  if (kind.hidden.includes(text)) return '';
  return ` (default ${kind.quoted === true ? quote(text) : text})`;
}

function sectionText(section: FlagSection, program: string, columns: number): string {
  const rows = section.rows
    .filter(({ deprecated }) => deprecated === undefined)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  // On a terminal upstream makes every section as wide as the screen.
  const least = columns > WRAP_WIDTH_MIN ? columns - WRAP_WIDTH_MIN + '      -- int'.length : 0;
  const width = Math.max(least, ...rows.map((row) => headOf(row).length));
  const lines = rows.map((row) => {
    const help = row.help.replace('{program}', program);
    const text = wrap(width + 3, columns, `${help}${defaultNote(row)}`);
    return `${headOf(row).padEnd(width)}   ${text}\n`;
  });
  const title = section.name.charAt(0).toUpperCase() + section.name.slice(1);
  return `\n${title} flags:\n\n${lines.join('')}`;
}

/** What follows "Usage:" after a command line that can't be read; `columns` 0: don't wrap. */
export function usageText(program: string, columns = 0): string {
  const sections = SECTIONS.map((section) => sectionText(section, program, columns));
  return `Usage:\n  ${program} [flags]\n${sections.join('')}`;
}

/** The whole of --help; `columns` is the width of the terminal, 0 if it is none. */
export function helpText(program: string, columns = 0): string {
  return `${INTRO}\n\n${usageText(program, columns)}`;
}
