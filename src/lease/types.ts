/** What the rest of the process sees of leader election. */
import type { ClientConfig, WriteFence } from '../kube/index.ts';
import type { Clock } from '../runtime/clock.ts';
import type { EventRecorder } from '../runtime/controller.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { FactTable } from '../runtime/ports.ts';
import type { Random } from '../runtime/random.ts';
import type { HealthCheck } from '../runtime/status.ts';
import type { Machine } from './machine.ts';
import type { LeaseName } from './messages.ts';
import type { Lead, LeadHow } from './term.ts';
import type { StartThread } from './thread.ts';
import type { ElectionTimes } from './times.ts';

export type ElectorState = 'standby' | 'leading' | 'stopped';

/** The election at one moment, for people. */
export interface LeaseInfo {
  readonly identity: string;
  readonly state: ElectorState;
  /** "namespace/name", "" without election. */
  readonly lease: string;
  /** Holder as last seen, "" if none or not known. */
  readonly holder: string;
  /** leaseTransitions as last seen. */
  readonly term: number;
  /** Wall time at which this process began to lead, to stand by or to stop, ms. */
  readonly since: number;
  /** When the holder as last seen took the Lease, by its own clock, ms; 0: not known. */
  readonly holderSince: number;
  /** How the present term was won, absent while not leading. */
  readonly how?: LeadHow;
  /** Milliseconds since the last renewal of ours, absent while not leading. */
  readonly renewedAgoMs?: number;
  /** Milliseconds for which this process may still write, 0 while not leading. */
  readonly heldForMs: number;
}

/** Leads, or stands by, from its making until `release`. */
export interface Elector {
  /** `<hostname>_<uuid>`, new in each process. */
  readonly identity: string;
  readonly fence: WriteFence;
  state(): ElectorState;
  /** Called when a term begins; at once if one has begun already. */
  onLead(callback: (lead: Lead) => void): void;
  /**
   * Called when a term ends, except by `release`: the fence is closed by then. This process leads
   * again no earlier than when all these promises have settled.
   */
  onLost(callback: (because: string) => void | Promise<void>): void;
  /** The check named leaderElection; undefined without election. */
  health(): HealthCheck | undefined;
  /** Says that the main thread isn't stuck; the elector also says so by itself. */
  heartbeat(): void;
  /** Closes the fence, releases the Lease if held (within the renew deadline) and stops. */
  release(): Promise<void>;
  leaseInfo(): LeaseInfo;
}

export interface ElectionOptions {
  /** --leader-elect-resource-namespace and -name */
  readonly lease: LeaseName;
  readonly times: ElectionTimes;
  /** How the candidate's own connection reaches the API server. */
  readonly config: ClientConfig;
  /** Of the user-agent, "unknown" if absent. */
  readonly version?: string;
  /** A directory on a tmpfs for the runtime record. */
  readonly runtimeDirectory?: string;
  /**
   * Names the process lock that this process holds (device and inode of the lock file, say), the
   * same in each process that holds it. undefined: no lock is held, and an earlier process of ours
   * is never succeeded early.
   */
  readonly lockId: string | undefined;
  /** Where the last term is remembered beside the rest of the state. */
  readonly facts: Pick<FactTable, 'get' | 'set'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** For the events on the Lease; it must not stop at the fence. */
  readonly events: EventRecorder;
  /** Which machine and boot this is; read from the system if absent. */
  readonly machine?: Machine;
  /** How a candidate is started: in a worker, if absent. */
  readonly startThread?: StartThread;
}
