/** Writing taints, labels and conditions of nodes. */
import { isConflict } from '../../api/errors.ts';
import { NODES } from '../../api/resource.ts';
import { timeText } from '../../api/time.ts';
import type { Node } from '../../api/types/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { SyncRun } from '../../runtime/controller.ts';
import { conditionsPatch } from '../_kit/conditions-patch.ts';
import type { NodeCondition } from './decide-health.ts';
import { changedTaints, labelChange, type TaintChange } from './decide-node.ts';

const TRIES = 5;
const BETWEEN_TRIES_MS = 100;

/**
 * Adds and removes taints in one write that fails if the node moved; what it became is read and
 * tried again, five times in all. Throws the last error, or any other at once. Resolves without a
 * write if there is nothing to change, and if another node has the name by now.
 */
export async function changeTaints(
  run: SyncRun,
  node: Node,
  change: TaintChange,
  { clock, because }: { readonly clock: Clock; readonly because: string },
): Promise<void> {
  const { name, uid } = node.metadata;
  let current = node;
  for (let tries = 1; ; tries++) {
    const time = timeText(clock.now());
    const taints = changedTaints(current.spec?.taints ?? [], change, time);
    if (taints === undefined || current.metadata.uid !== uid) return;
    const { resourceVersion } = current.metadata;
    const spec = { taints: taints.length === 0 ? null : taints };
    const body = { metadata: { uid, resourceVersion }, spec };
    try {
      await run.client.patch(NODES, { name }, 'strategic', body, { because, metadataOnly: true });
      return;
    } catch (error) {
      if (!isConflict(error) || tries === TRIES) throw error;
    }
    await clock.sleep(BETWEEN_TRIES_MS, run.signal);
    current = await run.client.get<Node>(NODES, { name });
  }
}

/** Sets the older labels that differ from the newer ones. */
export async function reconcileLabels(run: SyncRun, node: Node): Promise<void> {
  const { name, uid, labels: present = {} } = node.metadata;
  const labels = labelChange(present);
  const names = Object.keys(labels);
  if (names.length === 0) return;
  const because = `${names.join(', ')} must be as the stable labels are`;
  await run.client.patch(
    NODES,
    { name },
    'strategic',
    { metadata: { uid, labels } },
    { because, metadataOnly: true },
  );
}

/** Writes conditions of this version of the node. */
export async function writeConditions(
  run: SyncRun,
  { metadata, status: present }: Node,
  conditions: readonly NodeCondition[],
  because: string,
): Promise<void> {
  const { name, uid, resourceVersion } = metadata;
  const status = conditionsPatch(present?.conditions, conditions);
  const body = { metadata: { uid, resourceVersion }, status };
  await run.client.patch(NODES, { name, subresource: 'status' }, 'strategic', body, {
    because,
    metadataOnly: true,
  });
}
