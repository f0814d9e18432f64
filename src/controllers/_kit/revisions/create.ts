/** New ControllerRevisions: their bodies, and the exact text they are sent as. */
import { goJson } from '../../../api/go-json.ts';
import { withJsonText } from '../../../api/json.ts';
import { controllerReference, type StringMap } from '../../../api/meta.ts';
import { apiVersionOf, CONTROLLER_REVISIONS, type Resource } from '../../../api/resource.ts';
import type { ControllerRevision, KubeObject } from '../../../api/types/index.ts';
import { parsedData } from './data.ts';

/** A revision that isn't stored yet: the body of the create call. */
export type NewRevision = Pick<ControllerRevision, 'apiVersion' | 'kind' | 'data' | 'revision'> & {
  readonly metadata: Pick<
    ControllerRevision['metadata'],
    'name' | 'namespace' | 'labels' | 'annotations' | 'ownerReferences'
  >;
};

/** What a revision is made from. */
export interface RevisionInput {
  /** The StatefulSet or DaemonSet; its annotations are copied. */
  readonly owner: KubeObject;
  readonly ownerResource: Resource;
  readonly name: string;
  readonly labels: StringMap;
  /** From `templateData`. */
  readonly data: string;
  readonly revision: number;
}

/** The body of a new revision, controlled by its owner. */
export function newRevision(input: RevisionInput): NewRevision {
  const { owner, ownerResource, name, labels, data, revision } = input;
  const { namespace, annotations } = owner.metadata;
  return {
    apiVersion: apiVersionOf(CONTROLLER_REVISIONS),
    kind: CONTROLLER_REVISIONS.kind,
    metadata: {
      name,
      namespace,
      labels,
      annotations,
      ownerReferences: [controllerReference(owner.metadata, ownerResource)],
    },
    data: parsedData(data),
    revision,
  };
}

/**
 * The same body, to be sent as upstream's text: the API server keeps the bytes of `data` as they
 * come, and the next one to look compares them.
 */
export function revisionBody(revision: NewRevision): NewRevision {
  return withJsonText(revision, goJson(revision));
}
