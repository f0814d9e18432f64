/** One record of comma-separated values as Go's encoding/csv reads and writes it. */
import { ValueError } from './number.ts';

const BARE_QUOTE = 'bare " in non-quoted-field';
const STRAY_QUOTE = 'extraneous or missing " in quoted-field';
const NEEDS_QUOTES = /["\r\n,]|^\s|^\\\.$/;

/** Where the reader stands; columns count bytes from 1, as in Go's messages. */
interface Position {
  line: number;
  column: number;
}

function fault(at: Position, start: number, what: string): ValueError {
  const place = `line ${at.line}, column ${at.column}`;
  const text =
    start === at.line
      ? `parse error on ${place}: ${what}`
      : `record on line ${start}; parse error on ${place}: ${what}`;
  return new ValueError(text);
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

function linesOf(text: string): string[] {
  return (text.match(/[^\n]*\n|[^\n]+$/g) ?? []).map((line) =>
    line.replace(/\r?\n$/, '\n').replace(/\r$/, ''),
  );
}

class Reader {
  readonly fields: string[] = [];
  private readonly at: Position;
  private readonly start: number;
  private rest: string;

  constructor(
    private readonly lines: readonly string[],
    first: number,
  ) {
    this.start = first + 1;
    this.at = { line: this.start, column: 1 };
    this.rest = lines[first] ?? '';
  }

  read(): readonly string[] {
    for (let more = true; more; ) {
      more = this.rest.startsWith('"') ? this.quoted() : this.plain();
    }
    return this.fields;
  }

  private advance(text: string): void {
    this.rest = this.rest.slice(text.length);
    this.at.column += bytesOf(text);
  }

  /** Reads a field up to its comma; true if another field follows. */
  private plain(): boolean {
    const comma = this.rest.indexOf(',');
    const field = comma < 0 ? this.rest.replace(/\n$/, '') : this.rest.slice(0, comma);
    const quoteAt = field.indexOf('"');
    if (quoteAt >= 0) {
      this.advance(field.slice(0, quoteAt));
      throw fault(this.at, this.start, BARE_QUOTE);
    }
    this.fields.push(field);
    if (comma >= 0) this.advance(`${field},`);
    return comma >= 0;
  }

  private quoted(): boolean {
    let field = '';
    this.advance('"');
    for (;;) {
      const end = this.rest.indexOf('"');
      if (end < 0) {
        field += this.rest;
        this.nextLine();
        continue;
      }
      field += this.rest.slice(0, end);
      this.advance(this.rest.slice(0, end + 1));
      if (this.rest.startsWith('"')) {
        field += '"';
        this.advance('"');
        continue;
      }
      return this.endQuoted(field);
    }
  }

  private endQuoted(field: string): boolean {
    if (this.rest.startsWith(',')) {
      this.fields.push(field);
      this.advance(',');
      return true;
    }
    if (this.rest !== '' && this.rest !== '\n') {
      this.at.column -= 1;
      throw fault(this.at, this.start, STRAY_QUOTE);
    }
    this.fields.push(field);
    return false;
  }

  private nextLine(): void {
    this.advance(this.rest);
    const next = this.lines[this.at.line];
    if (next === undefined) throw fault(this.at, this.start, STRAY_QUOTE);
    this.at.line += 1;
    this.at.column = 1;
    this.rest = next;
  }
}

/** The fields of the first record. Throws ValueError with Go's text ("EOF" if there is none). */
export function readCsv(text: string): readonly string[] {
  const lines = linesOf(text);
  const first = lines.findIndex((line) => line !== '\n');
  if (first < 0) throw new ValueError('EOF');
  return new Reader(lines, first).read();
}

/** One record, fields quoted where Go quotes them. */
export function writeCsv(fields: readonly string[]): string {
  const written = fields.map((field) =>
    NEEDS_QUOTES.test(field) ? `"${field.replaceAll('"', '""')}"` : field,
  );
  return written.join(',');
}
