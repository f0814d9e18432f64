/** Deployments and ReplicaSets for tests: one call an object. */
import { controllerReference } from '../../../api/meta.ts';
import { DEPLOYMENTS } from '../../../api/resource.ts';
import { timeText } from '../../../api/time.ts';
import type {
  Deployment,
  DeploymentSpec,
  DeploymentStatus,
  PodTemplateSpec,
  ReplicaSet,
  ReplicaSetStatus,
} from '../../../api/types/index.ts';
import { sizeAnnotationsFor } from '../annotations.ts';

/** Noon of a day in May, milliseconds. */
export const NOON = Date.parse('2026-05-20T12:00:00Z');
const MINUTE_MS = 60_000;

/** A pod template whose image tells templates apart. */
export function template(image = 'app:1'): PodTemplateSpec {
  return {
    metadata: { labels: { app: 'web' } },
    spec: { containers: [{ name: 'app', image, resources: {} }], restartPolicy: 'Always' },
  };
}

export interface DeploymentOptions extends Partial<Omit<DeploymentSpec, 'strategy'>> {
  readonly maxSurge?: number | string;
  readonly maxUnavailable?: number | string;
  readonly recreate?: boolean;
  readonly annotations?: Record<string, string>;
  readonly status?: DeploymentStatus;
  readonly generation?: number;
  readonly deleting?: boolean;
}

/** A Deployment "web" of 3 replicas, rolling by 1 surge and 0 unavailable unless told otherwise. */
export function deployment(options: DeploymentOptions = {}): Deployment {
  const { maxSurge = 1, maxUnavailable = 0, recreate, annotations, status, ...rest } = options;
  const { generation = 1, deleting, ...spec } = rest;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: 'web',
      namespace: 'default',
      uid: 'deployment-uid',
      resourceVersion: '1',
      generation,
      ...(annotations && { annotations }),
      ...(deleting && { deletionTimestamp: timeText(NOON) }),
    },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: 'web' } },
      template: template(),
      strategy: recreate
        ? { type: 'Recreate' }
        : { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } },
      ...spec,
    },
    ...(status && { status }),
  };
}

export interface ReplicaSetOptions {
  readonly image?: string;
  readonly status?: Partial<ReplicaSetStatus>;
  readonly annotations?: Record<string, string>;
  readonly age?: number;
  readonly generation?: number;
  readonly deleting?: boolean;
}

/**
 * A ReplicaSet of "web", `age` minutes before noon. Unless told otherwise it is observed, all of
 * its pods are available, and it carries the size annotations of `owner`.
 */
export function replicaSet(
  name: string,
  size: number,
  options: ReplicaSetOptions = {},
  owner: Deployment = deployment(),
): ReplicaSet {
  const { image = 'app:1', age = 0, generation = 1, deleting } = options;
  const pods = template(image);
  const labels = { ...pods.metadata?.labels, 'pod-template-hash': name };
  const all = { replicas: size, readyReplicas: size, availableReplicas: size };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name,
      namespace: 'default',
      uid: `${name}-uid`,
      resourceVersion: '1',
      generation,
      creationTimestamp: timeText(NOON - age * MINUTE_MS),
      labels,
      annotations: { ...sizeAnnotationsFor(owner), ...options.annotations },
      ownerReferences: [controllerReference(owner.metadata, DEPLOYMENTS)],
      ...(deleting && { deletionTimestamp: timeText(NOON) }),
    },
    spec: {
      replicas: size,
      selector: { matchLabels: labels },
      template: { ...pods, metadata: { labels } },
    },
    status: { observedGeneration: generation, terminatingReplicas: 0, ...all, ...options.status },
  };
}
