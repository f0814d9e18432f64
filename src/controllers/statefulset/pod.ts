/** The pod that a StatefulSet makes for an ordinal: its identity and its storage. */
import { knownFields } from '../../api/known-fields.ts';
import type { StringMap } from '../../api/meta.ts';
import { apiVersionOf, PERSISTENT_VOLUME_CLAIMS } from '../../api/resource.ts';
import type {
  PersistentVolumeClaim,
  Pod,
  PodTemplateSpec,
  StatefulSet,
  Volume,
} from '../../api/types/index.ts';
import {
  type Member,
  memberName,
  POD_INDEX_LABEL,
  POD_NAME_LABEL,
  REVISION_LABEL,
} from './members.ts';

type ClaimTemplate = NonNullable<NonNullable<StatefulSet['spec']>['volumeClaimTemplates']>[number];

/** A claim that isn't stored yet: the body of the create call. */
export type NewClaim = Pick<PersistentVolumeClaim, 'apiVersion' | 'kind' | 'spec'> & {
  readonly metadata: Partial<PersistentVolumeClaim['metadata']> & { readonly name: string };
};

function claimTemplatesOf({ spec }: StatefulSet): readonly ClaimTemplate[] {
  return spec?.volumeClaimTemplates ?? [];
}

function claimName(template: ClaimTemplate, set: StatefulSet, ordinal: number): string {
  return `${template.metadata?.name}-${set.metadata.name}-${ordinal}`;
}

/** Names of the claims of this ordinal, by the name of the template and volume. */
export function claimNames(set: StatefulSet, ordinal: number): ReadonlyMap<string, string> {
  return new Map(
    claimTemplatesOf(set).map((template) => [
      template.metadata?.name ?? '',
      claimName(template, set, ordinal),
    ]),
  );
}

/** The claims of this ordinal as they are created. */
export function newClaims(set: StatefulSet, ordinal: number): readonly NewClaim[] {
  const { namespace } = set.metadata;
  const matchLabels = set.spec?.selector?.matchLabels;
  return claimTemplatesOf(set).map((given) => {
    const template = knownFields(given, 'PersistentVolumeClaim');
    const labels = { ...template.metadata?.labels, ...matchLabels };
    const name = claimName(template, set, ordinal);
    return {
      ...template,
      apiVersion: apiVersionOf(PERSISTENT_VOLUME_CLAIMS),
      kind: PERSISTENT_VOLUME_CLAIMS.kind,
      metadata: { ...template.metadata, name, namespace, labels },
    };
  });
}

/** The volumes with those of the claims first, in place of any of the same name. */
function withClaims(
  volumes: readonly Volume[] | undefined,
  claims: ReadonlyMap<string, string>,
): readonly Volume[] {
  const own = Array.from(claims, ([name, claim]) => ({
    name,
    persistentVolumeClaim: { claimName: claim },
  }));
  return [...own, ...(volumes ?? []).filter(({ name }) => !claims.has(name))];
}

/** True if every claim of the set is among the volumes, under its template's name. */
export function holdsClaims(
  volumes: readonly Volume[] | undefined,
  claims: ReadonlyMap<string, string>,
): boolean {
  return [...claims].every(
    ([name, claim]) =>
      volumes?.findLast((volume) => volume.name === name)?.persistentVolumeClaim?.claimName ===
      claim,
  );
}

function identityLabels(set: StatefulSet, ordinal: number): StringMap {
  return {
    [POD_NAME_LABEL]: memberName(set.metadata.name, ordinal),
    [POD_INDEX_LABEL]: String(ordinal),
  };
}

/** The template of the pod with this ordinal: its labels, host name, subdomain and volumes. */
function podTemplate(
  set: StatefulSet,
  template: PodTemplateSpec,
  ordinal: number,
  revision: string,
): PodTemplateSpec {
  const { metadata, spec } = template;
  const labels = {
    ...metadata?.labels,
    ...identityLabels(set, ordinal),
    [REVISION_LABEL]: revision,
  };
  return {
    metadata: { ...metadata, labels },
    spec: {
      ...spec,
      containers: spec?.containers ?? [],
      hostname: memberName(set.metadata.name, ordinal),
      subdomain: set.spec?.serviceName,
      volumes: withClaims(spec?.volumes, claimNames(set, ordinal)),
    },
  };
}

/** The plan of the pod that is missing at this ordinal. */
export function plannedMember(
  set: StatefulSet,
  template: PodTemplateSpec,
  ordinal: number,
  revision: string,
): Member {
  const name = memberName(set.metadata.name, ordinal);
  return {
    name,
    uid: '',
    ordinal,
    phase: '',
    ready: false,
    readySince: 0,
    deleting: false,
    revision,
    nameLabel: name,
    template: podTemplate(set, template, ordinal, revision),
  };
}

/** True if the pod has the name and the label that its ordinal asks for. */
export function hasIdentity(set: StatefulSet, { name, ordinal, nameLabel }: Member): boolean {
  return name === memberName(set.metadata.name, ordinal) && nameLabel === name;
}

/** The pod with the name and the labels that its ordinal asks for. */
export function withIdentity(set: StatefulSet, pod: Pod, ordinal: number): Pod {
  const labels = { ...pod.metadata.labels, ...identityLabels(set, ordinal) };
  const name = memberName(set.metadata.name, ordinal);
  return { ...pod, metadata: { ...pod.metadata, name, labels } };
}

/** The pod with the volumes of its claims. */
export function withStorage(set: StatefulSet, pod: Pod, ordinal: number): Pod {
  if (pod.spec === undefined) return pod;
  const volumes = withClaims(pod.spec.volumes, claimNames(set, ordinal));
  return { ...pod, spec: { ...pod.spec, volumes } };
}
