/** What a process wrote to its state directory, call by call, read from the output of strace. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** Calls to record, and how: for `wrap` of a process. */
export function straceOf(output: string, dir: string): string[] {
  const calls = 'pwrite64,write,ftruncate,fsync,fdatasync,unlink,rename';
  const paths = ['state.db', 'state.db-wal'].flatMap((name) => ['-P', `${dir}/${name}`]);
  const shape = ['-f', '-qq', '-y', '-xx', '-s', '9000000'];
  return ['strace', ...shape, '-o', output, ...paths, '-e', `trace=${calls}`];
}

/** True where strace may trace. */
export const HAS_STRACE = Bun.spawnSync(['strace', '-o', '/dev/null', 'true']).success;

/** One thing that happened to a file of the state directory. */
export type Call = { readonly file: string } & (
  | { readonly kind: 'write'; readonly offset: number; readonly bytes: Uint8Array }
  | { readonly kind: 'truncate'; readonly size: number }
  | { readonly kind: 'sync' }
  | { readonly kind: 'unlink' }
);

const UNFINISHED = / <unfinished \.\.\.>$/;
const RESUMED = /^<\.\.\. \w+ resumed>\)?/;
const FILES = new Set(['state.db', 'state.db-wal']);

function unhex(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text.replaceAll('\\x', ''), 'hex'));
}

function textOf(hex: string): string {
  return Buffer.from(unhex(hex)).toString('latin1');
}

/** A file name as strace shows it: plain, or in hex. */
function fileOf(shown: string): string {
  return basename(shown.startsWith('\\x') ? textOf(shown) : shown);
}

/** The calls that succeeded, in the order in which they ended. */
export function readCalls(output: string): Call[] {
  const begun = new Map<string, string>();
  const calls: Call[] = [];
  for (const line of readFileSync(output, 'latin1').split('\n')) {
    const [, thread = '', text = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (UNFINISHED.test(text)) {
      begun.set(thread, text.replace(UNFINISHED, ''));
      continue;
    }
    const whole = RESUMED.test(text)
      ? `${begun.get(thread) ?? ''}${text.replace(/^<\.\.\. \w+ resumed>/, '')}`
      : text;
    const call = parse(whole);
    if (call !== undefined && FILES.has(call.file)) calls.push(call);
  }
  return calls;
}

function parse(text: string): Call | undefined {
  const failed = / = -1 /.test(text);
  if (failed) return undefined;
  const onFile = /^(\w+)\(\d+<([^>]*)>(?:\(deleted\))?(?:, (.*))?\) += (\d+)/.exec(text);
  if (onFile !== null) {
    const [, name = '', shown = '', rest = ''] = onFile;
    const file = fileOf(shown);
    if (name === 'fsync' || name === 'fdatasync') return { kind: 'sync', file };
    if (name === 'ftruncate') return { kind: 'truncate', file, size: Number(rest) };
    const write = /^"([^"]*)"(?:\.\.\.)?, \d+, (\d+)$/.exec(rest);
    if (name !== 'pwrite64' || write === null) throw new Error(`can't read: ${text.slice(0, 200)}`);
    return { kind: 'write', file, offset: Number(write[2]), bytes: unhex(write[1] ?? '') };
  }
  const gone = /^unlink\("([^"]*)"\)/.exec(text);
  return gone === null ? undefined : { kind: 'unlink', file: fileOf(gone[1] ?? '') };
}
