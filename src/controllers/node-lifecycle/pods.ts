/** Pods on nodes that are not ready are not ready either. */
import { FencedError, isNotFound } from '../../api/errors.ts';
import { PODS } from '../../api/resource.ts';
import { timeText } from '../../api/time.ts';
import type { Pod } from '../../api/types/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { EventRecorder, SyncRun } from '../../runtime/controller.ts';
import type { Lister, PodRecord } from '../../runtime/informer/types.ts';
import { conditionsPatch } from '../_kit/conditions-patch.ts';
import { whole } from '../_kit/whole.ts';
import { podNotReady } from './events.ts';

export interface PodMarkerDeps {
  readonly pods: Lister<Pod, PodRecord>;
  readonly events: EventRecorder;
  readonly clock: Clock;
}

/** Marks pods as not ready, one after the other; gives the errors of those it could not. */
export async function markPodsNotReady(
  run: SyncRun,
  keys: readonly string[],
  node: string,
  deps: PodMarkerDeps,
): Promise<unknown[]> {
  const errors: unknown[] = [];
  for (const key of keys) {
    const error = await markOne(run, key, node, deps);
    if (error instanceof FencedError) throw error;
    if (error !== undefined) errors.push(error);
  }
  return errors;
}

async function markOne(
  run: SyncRun,
  key: string,
  node: string,
  deps: PodMarkerDeps,
): Promise<unknown> {
  let pod: Pod | undefined;
  try {
    pod = await whole<Pod, PodRecord>(run, PODS, deps.pods, key);
  } catch (error) {
    return error;
  }
  return pod?.spec?.nodeName === node ? await mark(run, pod, node, deps) : undefined;
}

/** As upstream, the event is told also if the write fails, unless the pod is gone. */
async function mark(
  run: SyncRun,
  { metadata, status }: Pod,
  node: string,
  { events, clock }: PodMarkerDeps,
): Promise<unknown> {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready === undefined || ready.status === 'False') return undefined;
  const { namespace = '', name, uid, resourceVersion } = metadata;
  const condition = { ...ready, status: 'False', lastTransitionTime: timeText(clock.now()) };
  const conditions = conditionsPatch(status?.conditions, [condition]);
  const body = { metadata: { uid, resourceVersion }, status: conditions };
  const at = { namespace, name, subresource: 'status' };
  const because = `node ${node} is not ready`;
  let failure: unknown;
  try {
    await run.client.patch(PODS, at, 'strategic', body, { because, metadataOnly: true });
  } catch (error) {
    if (isNotFound(error) || error instanceof FencedError) {
      return isNotFound(error) ? undefined : error;
    }
    failure = error;
  }
  podNotReady(events, { namespace, name, uid, resourceVersion });
  return failure;
}
