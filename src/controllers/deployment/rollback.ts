/** Rollback on request of the legacy annotation: an old template becomes the Deployment's again. */
import { templatesEqual, withoutHashLabel } from '../../api/template.ts';
import type { Deployment, ReplicaSet } from '../../api/types/index.ts';
import { allOf, type DeploymentEvent, type Knowledge, type Steps } from './actions.ts';
import { lastRevision, revisionOf, rolledBackAnnotations, withoutRollback } from './annotations.ts';
import { rollbackRevisionNotFound, rollbackTemplateUnchanged, rolledBack } from './events.ts';
import { syncReplicaSets } from './new-replicaset.ts';
import { templateOf } from './sizes.ts';

/** Takes the template of revision `asked` (0: the second-highest). Always drops the request. */
export function* rollback(known: Knowledge, asked: bigint): Steps<void> {
  const all = allOf(yield* syncReplicaSets(known, true));
  const { deployment } = known;
  const revision = asked === 0n ? lastRevision(all) : asked;
  const target = all.find((replicaSet) => revisionOf(replicaSet) === revision);
  if (revision === 0n || target === undefined) {
    const missing = rollbackRevisionNotFound(revision === 0n);
    return yield* giveUp(deployment, missing, `revision ${revision} is not there`);
  }
  const template = templateOf(target);
  if (templatesEqual(templateOf(deployment), template)) {
    const unchanged = rollbackTemplateUnchanged(deployment.metadata.name);
    return yield* giveUp(deployment, unchanged, `revision ${revision} has the same template`);
  }
  const back = withTemplate(deployment, target);
  const because = `rollback: template and annotations of revision ${revision}`;
  yield { kind: 'updateDeployment', deployment: back, because };
  yield { kind: 'event', event: rolledBack(deployment.metadata.name, revision) };
}

function withTemplate(deployment: Deployment, target: ReplicaSet): Deployment {
  const template = templateOf(target);
  const labels = withoutHashLabel(template.metadata?.labels);
  const annotations = rolledBackAnnotations(deployment, target);
  return {
    ...deployment,
    metadata: { ...deployment.metadata, annotations },
    spec: deployment.spec && {
      ...deployment.spec,
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}

function* giveUp(deployment: Deployment, event: DeploymentEvent, why: string): Steps<void> {
  yield { kind: 'event', event };
  const annotations = withoutRollback(deployment.metadata.annotations ?? {});
  yield {
    kind: 'updateDeployment',
    deployment: { ...deployment, metadata: { ...deployment.metadata, annotations } },
    because: `rollback request dropped: ${why}`,
  };
}
