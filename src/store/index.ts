/** The store's door: remembering in SQLite, and reading what is remembered. */
export { type Named, objectNamed, resourceNamed } from './explain/named.ts';
export type { ExplainOptions, Explanation, Relative } from './explain/rows.ts';
export { tell } from './explain/words.ts';
export {
  type ForgetAnswer,
  forgetStored,
  leaveForgetAnswer,
  leaveForgetRequest,
  takeForgetAnswer,
  takeForgetRequest,
  withdrawForgetRequest,
} from './forget.ts';
export { type Helper, type HelperJob, inlineHelper, type StartHelper } from './helper.ts';
export {
  type Inspector,
  type JournalEntry,
  type JournalFilter,
  type ObjectView,
  openInspector,
  type QueueView,
  type WatchView,
} from './inspect.ts';
export type { CheckReport, Finding, StoreStats, TableStats } from './inspect-check.ts';
export { type OpenedStore, openStore, readBootId, type StoreOptions } from './open.ts';
export { type ProcessLock, takeProcessLock } from './process-lock.ts';
export { processUsing } from './process-user.ts';
export { type RedactedSecret, redactForDisk } from './redact.ts';
export { STATE_FILE } from './state-dir.ts';
export type { NotedWrites } from './write-counts.ts';
