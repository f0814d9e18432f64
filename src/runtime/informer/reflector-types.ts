/** What a reflector is made of and what it tells about itself. */
import type { KubeClient } from '../../kube/types.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { ObjectRows } from '../ports.ts';
import type { Random } from '../random.ts';
import type { HistoryCheck } from './history.ts';
import type { ReflectorMetrics } from './reflector-metrics.ts';
import type { WatchTurns } from './watch-turns.ts';

/** How the cache came to be, for the status pages. */
export type SyncHow = 'none' | 'resumed' | 'listed' | 'delta';

export interface ReflectorDeps {
  readonly client: KubeClient;
  readonly rows: ObjectRows;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly history: HistoryCheck;
  readonly metrics: ReflectorMetrics;
  /** True while the store's disk takes what it is given. */
  diskWell(): boolean;
  /**
   * Versions come from the API server's own etcd: a watch may go on where another process stopped,
   * and versions only go forward. Of other servers (aggregated APIs) everything is listed anew.
   */
  readonly resumable: boolean;
  /** Places that the watch has to share with others. */
  readonly turns?: WatchTurns;
}

/** What the reflector can be asked; plain data. */
export interface ReflectorStatus {
  readonly resource: string;
  readonly resourceVersion: string;
  readonly objects: number;
  readonly how: SyncHow;
  readonly synced: boolean;
  readonly caughtUp: boolean;
  readonly lastEventAt: number;
  readonly lists: number;
  readonly watches: number;
  readonly problem: string;
}
