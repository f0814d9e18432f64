/** What the main thread and the candidate's thread tell each other. */

import type { ClientConfig } from '../kube/index.ts';
import type { Machine } from './machine.ts';
import type { LastTerm, Rules } from './state.ts';
import type { Lead, SeenLease } from './term.ts';

/** Names one Lease. */
export interface LeaseName {
  readonly namespace: string;
  readonly name: string;
}

/** All a candidate needs to begin, apart from its way to the API server. */
export interface CandidateSetup {
  readonly lease: LeaseName;
  readonly rules: Rules;
  readonly machine: Machine;
  /** Names the process lock that is held; without one no runtime record is written. */
  readonly lockId: string | undefined;
  readonly runtimeDirectory: string;
  /** The buffer of the shared Cells. */
  readonly cells: SharedArrayBuffer;
  /** The wish to lead with which this candidate begins. */
  readonly round: number;
}

/** First message to a worker. */
export interface WorkerStart {
  readonly kind: 'start';
  readonly setup: CandidateSetup;
  /** How the worker's own connection reaches the API server. */
  readonly config: ClientConfig;
  /** Of the user-agent. */
  readonly version: string;
  /** Log lines above this level are not worth posting. */
  readonly verbosity: number;
}

/** From the main thread. */
export type ToCandidate =
  /** The last term is over and its work has stopped: take the Lease again when it is free. */
  | {
      readonly kind: 'stand-by';
      readonly round: number;
      readonly remembered: LastTerm | undefined;
    }
  /** Release the Lease if it is ours, answer `released`, and do nothing any more. */
  | { readonly kind: 'release' };

/** From the candidate. A `round` is one wish to lead; messages of an earlier one are void. */
export type FromCandidate =
  | {
      readonly kind: 'lead';
      readonly round: number;
      readonly lead: Lead;
      readonly seen: SeenLease;
    }
  | { readonly kind: 'lost'; readonly round: number; readonly because: string }
  /** Another Lease object or holder was seen. */
  | { readonly kind: 'seen'; readonly seen: SeenLease | undefined }
  | { readonly kind: 'slow-path' }
  | { readonly kind: 'released' }
  | {
      readonly kind: 'log';
      readonly level: 'info' | 'warning' | 'error' | number;
      readonly message: string;
      readonly fields: Readonly<Record<string, string | number>>;
    };
