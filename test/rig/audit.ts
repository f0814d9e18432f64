/** The API server's audit log: what was asked of it, by whom. */
import { existsSync, readFileSync } from 'node:fs';

/** One finished request (or the start of the answer of a long one such as a watch). */
export interface AuditEntry {
  readonly auditID: string;
  readonly stage: 'ResponseStarted' | 'ResponseComplete' | 'Panic';
  readonly requestURI: string;
  readonly verb: string;
  readonly user: { readonly username: string; readonly groups?: readonly string[] };
  readonly userAgent?: string;
  readonly objectRef?: {
    readonly resource?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly apiGroup?: string;
    readonly apiVersion?: string;
    readonly subresource?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
}

/** Conditions that all must hold; each may be left out. */
export interface AuditFilter {
  readonly verb?: string | readonly string[];
  readonly resource?: string | readonly string[];
  readonly subresource?: string;
  readonly namespace?: string;
  /** Exact user name, or what it must match. */
  readonly user?: string | RegExp;
  readonly userAgent?: RegExp;
  /** Only requests received at or after this time. */
  readonly since?: Date;
  readonly where?: (entry: AuditEntry) => boolean;
  /** Default: one entry a request, the first one written. */
  readonly allStages?: boolean;
}

function matches(value: string | undefined, wanted: string | readonly string[] | undefined) {
  if (wanted === undefined) return true;
  if (value === undefined) return false;
  return typeof wanted === 'string' ? value === wanted : wanted.includes(value);
}

function userMatches(name: string, wanted: string | RegExp | undefined): boolean {
  if (wanted === undefined) return true;
  return typeof wanted === 'string' ? name === wanted : wanted.test(name);
}

/** The entries of a log that pass the filter, in the order they were written. */
export function readAudit(path: string, filter: AuditFilter = {}): AuditEntry[] {
  if (!existsSync(path)) return [];
  const text = readFileSync(path, 'utf8');
  const complete = text.slice(0, text.lastIndexOf('\n') + 1);
  const seen = new Set<string>();
  const entries: AuditEntry[] = [];
  for (const line of complete.split('\n')) {
    if (line === '') continue;
    const entry = JSON.parse(line) as AuditEntry;
    if (!filter.allStages) {
      if (seen.has(entry.auditID)) continue;
      seen.add(entry.auditID);
    }
    if (passes(entry, filter)) entries.push(entry);
  }
  return entries;
}

function passes(entry: AuditEntry, filter: AuditFilter): boolean {
  const { objectRef } = entry;
  return (
    matches(entry.verb, filter.verb) &&
    matches(objectRef?.resource, filter.resource) &&
    matches(objectRef?.subresource, filter.subresource) &&
    matches(objectRef?.namespace, filter.namespace) &&
    userMatches(entry.user.username, filter.user) &&
    (filter.userAgent === undefined || filter.userAgent.test(entry.userAgent ?? '')) &&
    (filter.since === undefined || new Date(entry.requestReceivedTimestamp) >= filter.since) &&
    (filter.where === undefined || filter.where(entry))
  );
}
