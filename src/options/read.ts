/** Reading the files that flags name. */
import { readFileSync } from 'node:fs';

/** Gives a file's text; throws as node:fs does. */
export type ReadText = (path: string) => string;

/** Reads from the disk, as UTF-8. */
export const readTextFile: ReadText = (path) => readFileSync(path, 'utf8');

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
  EISDIR: 'is a directory',
  ENOTDIR: 'not a directory',
};

/** Why a file couldn't be read, as Go says it: "open /x: no such file or directory". */
export function readProblem(verb: string, path: string, error: unknown): string {
  const code = (error as { code?: unknown }).code;
  const reason = typeof code === 'string' ? REASONS[code] : undefined;
  const fallback = error instanceof Error ? error.message : String(error);
  return `${code === 'EISDIR' ? 'read' : verb} ${path}: ${reason ?? fallback}`;
}
