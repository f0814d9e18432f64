/** Status objects that the framework shows to `http/` and the CLI; plain data, read when asked. */

import type { Overview } from './overview.ts';
import type { Told } from './told.ts';

/** One named health check; resolves to undefined when well, else to the reason. */
export interface HealthCheck {
  readonly name: string;
  check(): string | undefined | Promise<string | undefined>;
}

/** A page of text; plain text unless it says otherwise. */
export type DebugPage = string | { readonly text: string; readonly contentType: string };

/** An object told about, or why none can be found. */
export type ExplainAnswer =
  | { readonly told: Told; readonly resource: string; readonly key: string }
  | { readonly problem: string };

/** What the running process can be asked, apart from metrics. */
export interface StatusPort {
  /** In upstream's order: leaderElection first, then controllers by name while leading. */
  healthChecks(): readonly HealthCheck[];
  /** The object under /configz's `kubecontrollermanager.config.k8s.io`. */
  configz(): object;
  /** Flag name (with dashes) to its effective value. */
  flagz(): Readonly<Record<string, string>>;
  /** Extra lines for /statusz, e.g. how the state file was opened. */
  statusz(): Readonly<Record<string, string>>;
  /** Sections of /debug/holdfast/<name>, each plain JSON data. */
  debug(): Readonly<Record<string, () => unknown>>;
  /** What the page at `/` shows. */
  overview(): Overview;
  /** What is known about one object, of a word as people write it: "deployment/default/web". */
  explain(word: string): ExplainAnswer;
  /** Extra handlers under /debug/controllers/<name>/...; undefined: no such page. */
  controllerDebug(): Readonly<
    Record<string, (path: string, query: URLSearchParams) => DebugPage | undefined>
  >;
}
