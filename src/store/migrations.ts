/** Every file of migrations/, in order, embedded as text; a test compares it with the folder. */
import init from '../../migrations/0000_init.sql' with { type: 'text' };

/** One step of the schema; `name` is the file's name without ".sql". */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}

export const MIGRATIONS: readonly Migration[] = [{ name: '0000_init', sql: init }];
