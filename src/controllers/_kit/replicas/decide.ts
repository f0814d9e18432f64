/** How many pods a ReplicaSet creates or deletes in one sync (upstream's manageReplicas). */

/** Most pods created, or deleted, in one sync. */
export const BURST_REPLICAS = 500;

/** What is to be done about the number of pods, and why. */
export interface ReplicaPlan {
  readonly verb: 'none' | 'create' | 'delete';
  /** Pods to create or delete, 0 to BURST_REPLICAS. */
  readonly count: number;
  readonly because: string;
}

/** Pods counted by a plan. */
export interface ReplicaCount {
  /** Pods asked for. */
  readonly wanted: number;
  /** Active pods it owns. */
  readonly active: number;
}

/** Compares active with wanted pods; at most BURST_REPLICAS are created or deleted at a time. */
export function planReplicas({ wanted, active }: ReplicaCount): ReplicaPlan {
  const found = `${counted(active, 'active pod')}, ${wanted} wanted`;
  const count = Math.min(Math.abs(active - wanted), BURST_REPLICAS);
  if (count === 0) return { verb: 'none', count, because: `${found}: nothing to do` };
  const [verb, doing] = active < wanted ? ['create', 'creating'] : ['delete', 'deleting'];
  const cut = count < Math.abs(active - wanted) ? `, ${BURST_REPLICAS} at a time` : '';
  return { verb: verb as ReplicaPlan['verb'], count, because: `${found}: ${doing} ${count}${cut}` };
}

/** "1 pod", "3 pods". */
export function counted(count: number, what: string): string {
  return count === 1 ? `1 ${what}` : `${count} ${what}s`;
}
