/** Noting on the Deployment which revision its template has, and how the rollout began. */
import { setCondition } from '../../api/condition.ts';
import type { Deployment, DeploymentCondition } from '../../api/types/index.ts';
import { type Knowledge, type Steps, writeStatus } from './actions.ts';
import { REVISION } from './annotations.ts';
import { progressDeadlineOf } from './sizes.ts';

/** Puts the revision on the Deployment, and a Progressing condition where a deadline is set. */
export function* noteRevision(
  known: Knowledge,
  revision: string,
  condition: DeploymentCondition | undefined,
): Steps<void> {
  const { deployment } = known;
  const progressing = progressDeadlineOf(deployment) === undefined ? undefined : condition;
  const before = deployment.metadata.annotations?.[REVISION] ?? '';
  if (before === revision && progressing === undefined) return;
  const annotations = { ...deployment.metadata.annotations, [REVISION]: revision };
  const next: Deployment = {
    ...deployment,
    metadata: { ...deployment.metadata, annotations },
    status:
      progressing === undefined
        ? deployment.status
        : {
            ...deployment.status,
            conditions: setCondition(deployment.status?.conditions ?? [], progressing),
          },
  };
  const because =
    before === revision
      ? `${progressing?.message}`
      : `revision from ${before || 'none'} to ${revision}`;
  yield* writeStatus(known, next, because);
}
