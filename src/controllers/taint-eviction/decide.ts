/** Whether a pod must leave its node because of the node's NoExecute taints, and when. Pure. */
import { type TolerationRules, usedTolerations } from '../../api/taint.ts';
import { secondsMs } from '../../api/time.ts';
import type { Taint, Toleration } from '../../api/types/index.ts';

/** An eviction that waits for its time. */
export interface Pending {
  /** UID of the pod it is meant for. */
  readonly uid: string;
  /** Milliseconds until it is due; 0 or less: now. */
  readonly leftMs: number;
  /** It was taken over from an earlier process, and none of the taints it began with is left. */
  readonly outlived: boolean;
}

export interface Observed {
  /** Undefined if it is gone. */
  readonly pod:
    | {
        readonly uid: string;
        readonly nodeName: string;
        readonly tolerations: readonly Toleration[];
      }
    | undefined;
  /** The NoExecute taints of its node; undefined if there is no such node. */
  readonly taints: readonly Taint[] | undefined;
  readonly pending: Pending | undefined;
  /** The pod or the taints changed; false if only time has passed. */
  readonly asked: boolean;
}

export interface Decision {
  /** What waited so far doesn't any more, which is told. */
  readonly cancels: boolean;
  /** `rest`: nothing waits. `wait`: what waits goes on. */
  readonly act:
    | { readonly kind: 'rest' | 'evict' }
    | { readonly kind: 'wait'; readonly leftMs: number }
    | { readonly kind: 'start'; readonly delayMs: number };
  readonly because: string;
}

const REST = { kind: 'rest' } as const;
const EVICT = { kind: 'evict' } as const;
const SECOND_MS = 1_000;

/** What to do about one pod. The same for the same observation. */
export function decide(observed: Observed, rules: TolerationRules): Decision {
  const { pod, pending, asked } = observed;
  if (pod === undefined) {
    return { cancels: pending !== undefined, act: REST, because: 'the pod is gone' };
  }
  if (pending !== undefined && (pending.uid !== pod.uid || pending.outlived)) {
    const fresh = decide({ ...observed, pending: undefined, asked: true }, rules);
    const because = pending.outlived ? 'other taints than it began with' : 'another pod';
    return { ...fresh, cancels: true, because: `${because}: ${fresh.because}` };
  }
  if (!asked) return onTime(observed);
  return onChange(pod.tolerations, observed, rules);
}

/** Nothing changed: only what waits can have become due. Node deletion stops nothing. */
function onTime({ pending, taints }: Observed): Decision {
  if (pending === undefined) return { cancels: false, act: REST, because: 'nothing waits' };
  if (taints?.length === 0) return { cancels: true, act: REST, because: 'no taint is left' };
  return goOn(pending);
}

function goOn(pending: Pending): Decision {
  const { leftMs } = pending;
  if (leftMs <= 0) {
    return { cancels: false, act: EVICT, because: 'the time it tolerates the taints is over' };
  }
  const because = `it tolerates the taints for ${seconds(leftMs)} more`;
  return { cancels: false, act: { kind: 'wait', leftMs }, because };
}

function onChange(
  tolerations: readonly Toleration[],
  observed: Observed,
  rules: TolerationRules,
): Decision {
  const { pending, taints = [] } = observed;
  if (taints.length === 0) return onTime(observed);
  const cancels = pending !== undefined;
  const used = usedTolerations(taints, tolerations, rules);
  const keys = taints.map(({ key }) => key).join(', ');
  if (used === undefined) return { cancels, act: EVICT, because: `it does not tolerate ${keys}` };
  const delayMs = shortestMs(used);
  if (delayMs === undefined) {
    return { cancels, act: REST, because: `it tolerates ${keys} for ever` };
  }
  // A clock that runs is kept, whatever other finite time comes out now.
  if (pending !== undefined) return goOn(pending);
  const because = `it tolerates ${keys} for ${seconds(delayMs)}`;
  const act = delayMs <= 0 ? EVICT : ({ kind: 'start', delayMs } as const);
  return { cancels: false, act, because };
}

/** Shortest time of those tolerations, milliseconds; undefined: for ever. */
function shortestMs(used: readonly Toleration[]): number | undefined {
  let shortest: number | undefined;
  for (const { tolerationSeconds } of used) {
    if (tolerationSeconds === undefined || tolerationSeconds === null) continue;
    const ms = Math.max(0, secondsMs(tolerationSeconds));
    if (shortest === undefined || ms < shortest) shortest = ms;
  }
  return shortest;
}

function seconds(ms: number): string {
  return `${Math.ceil(ms / SECOND_MS)} s`;
}
