/** Which Secrets a pod names. */
import type { Container, Pod, PodSpec, Volume } from './types/index.ts';

/**
 * Names of the Secrets that a pod's spec names, as upstream looks for them: to pull images, in the
 * environment of containers of all kinds, and in volumes. "" is no name; a name may come twice.
 */
export function secretNamesOf({ spec }: Pod): readonly string[] {
  if (spec === undefined) return [];
  const names = [
    ...(spec.imagePullSecrets ?? []).map(({ name }) => name),
    ...containersOf(spec).flatMap(ofContainer),
    ...(spec.volumes ?? []).flatMap(ofVolume),
  ];
  return names.filter((name) => name !== undefined && name !== '') as string[];
}

type Environment = Pick<Container, 'env' | 'envFrom'>;

function containersOf(spec: PodSpec): readonly Environment[] {
  return [spec.initContainers, spec.containers, spec.ephemeralContainers].flatMap(
    (each): readonly Environment[] => each ?? [],
  );
}

function ofContainer({ env, envFrom }: Environment): (string | undefined)[] {
  return [
    ...(envFrom ?? []).map(({ secretRef }) => secretRef?.name),
    ...(env ?? []).map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
  ];
}

function ofVolume(volume: Volume): (string | undefined)[] {
  return [
    volume.azureFile?.secretName,
    volume.cephfs?.secretRef?.name,
    volume.cinder?.secretRef?.name,
    volume.flexVolume?.secretRef?.name,
    ...(volume.projected?.sources ?? []).map(({ secret }) => secret?.name),
    volume.rbd?.secretRef?.name,
    volume.secret?.secretName,
    volume.scaleIO?.secretRef?.name,
    volume.iscsi?.secretRef?.name,
    volume.storageos?.secretRef?.name,
    volume.csi?.nodePublishSecretRef?.name,
  ];
}
