/**
 * Kubernetes objects as they travel on the wire: plain, deeply read-only JSON values.
 * Shapes come from the published models of @kubernetes/client-node (types only), with its
 * `Date`s as the RFC 3339 strings the API server really sends. A new object is made by
 * spreading an old one; nothing in the process mutates an object it was handed.
 */
import type {
  CoreV1EndpointPort,
  CoreV1Event,
  DiscoveryV1EndpointPort,
  ResourceV1ResourceClaim,
  V1Affinity,
  V1ClusterRole,
  V1Condition,
  V1ConfigMap,
  V1Container,
  V1ContainerStatus,
  V1ControllerRevision,
  V1CronJob,
  V1CronJobStatus,
  V1DaemonSet,
  V1DaemonSetStatus,
  V1Deployment,
  V1DeploymentCondition,
  V1DeploymentSpec,
  V1DeploymentStatus,
  V1DeviceClass,
  V1Endpoint,
  V1EndpointAddress,
  V1EndpointHints,
  V1EndpointSlice,
  V1EndpointSubset,
  V1Endpoints,
  V1Job,
  V1JobCondition,
  V1JobSpec,
  V1JobStatus,
  V1LabelSelector,
  V1Lease,
  V1Namespace,
  V1NamespaceCondition,
  V1Node,
  V1NodeSelector,
  V1NodeSelectorRequirement,
  V1NodeSelectorTerm,
  V1ObjectMeta,
  V1ObjectReference,
  V1OwnerReference,
  V1PersistentVolumeClaim,
  V1Pod,
  V1PodCondition,
  V1PodDisruptionBudget,
  V1PodFailurePolicy,
  V1PodSpec,
  V1PodTemplateSpec,
  V1PolicyRule,
  V1Probe,
  V1ReplicaSet,
  V1ReplicaSetCondition,
  V1ReplicaSetStatus,
  V1ReplicationController,
  V1ReplicationControllerCondition,
  V1ResourceQuota,
  V1ScopedResourceSelectorRequirement,
  V1Secret,
  V1Service,
  V1ServiceAccount,
  V1ServicePort,
  V1StatefulSet,
  V1StatefulSetStatus,
  V1Status,
  V1SuccessPolicy,
  V1Taint,
  V1Toleration,
  V1Volume,
  V2HorizontalPodAutoscaler,
} from '@kubernetes/client-node';

/** A model type as read-only wire JSON: dates are strings, everything below is read-only. */
export type Wire<T> = T extends Date
  ? string
  : T extends (infer U)[]
    ? readonly Wire<U>[]
    : T extends object
      ? { readonly [K in keyof T]: Wire<T[K]> }
      : T;

/** The metadata every stored object has: name, uid and resourceVersion are always there. */
export type ObjectMeta = Wire<Omit<V1ObjectMeta, 'name' | 'uid' | 'resourceVersion'>> & {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
};

/** Any object of the API as far as the framework looks at it. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

/** An object that exists on the server (metadata complete), of the given model. */
export type Stored<T extends { metadata?: V1ObjectMeta }> = Wire<Omit<T, 'metadata'>> & KubeObject;

export type LabelSelector = Wire<V1LabelSelector>;
export type OwnerReference = Wire<V1OwnerReference>;
export type ObjectReference = Wire<V1ObjectReference>;
export type Condition = Wire<V1Condition>;
export type Container = Wire<V1Container>;
export type PodSpec = Wire<V1PodSpec>;
export type PodCondition = Wire<V1PodCondition>;
export type PodTemplateSpec = Wire<V1PodTemplateSpec>;
export type Taint = Wire<V1Taint>;
export type Toleration = Wire<V1Toleration>;
export type DeploymentSpec = Wire<V1DeploymentSpec>;
export type DeploymentStatus = Wire<V1DeploymentStatus>;
export type DeploymentCondition = Wire<V1DeploymentCondition>;
export type ReplicaSetStatus = Wire<V1ReplicaSetStatus>;
export type ReplicaSetCondition = Wire<V1ReplicaSetCondition>;
export type ReplicationControllerCondition = Wire<V1ReplicationControllerCondition>;
export type NamespaceCondition = Wire<V1NamespaceCondition>;
export type StatefulSetStatus = Wire<V1StatefulSetStatus>;
export type DaemonSetStatus = Wire<V1DaemonSetStatus>;
export type ContainerStatus = Wire<V1ContainerStatus>;
export type JobSpec = Wire<V1JobSpec>;
export type JobStatus = Wire<V1JobStatus>;
export type JobCondition = Wire<V1JobCondition>;
export type PodFailurePolicy = Wire<V1PodFailurePolicy>;
export type SuccessPolicy = Wire<V1SuccessPolicy>;
export type CronJobStatus = Wire<V1CronJobStatus>;
export type ServicePort = Wire<V1ServicePort>;
export type EndpointSubset = Wire<V1EndpointSubset>;
export type EndpointAddress = Wire<V1EndpointAddress>;
/** A port of Endpoints. */
export type SubsetPort = Wire<CoreV1EndpointPort>;
/** An endpoint, its hints and a port of an EndpointSlice. */
export type SliceEndpoint = Wire<V1Endpoint>;
export type EndpointHints = Wire<V1EndpointHints>;
export type SlicePort = Wire<DiscoveryV1EndpointPort>;
export type NodeSelector = Wire<V1NodeSelector>;
export type NodeSelectorTerm = Wire<V1NodeSelectorTerm>;
export type NodeSelectorRequirement = Wire<V1NodeSelectorRequirement>;
export type Affinity = Wire<V1Affinity>;
export type Volume = Wire<V1Volume>;
export type Probe = Wire<V1Probe>;
export type Status = Wire<V1Status>;

export type Pod = Stored<V1Pod>;
export type Node = Stored<V1Node>;
export type Namespace = Stored<V1Namespace>;
export type Service = Stored<V1Service>;
export type ServiceAccount = Stored<V1ServiceAccount>;
export type ConfigMap = Stored<V1ConfigMap>;
export type Secret = Stored<V1Secret>;
export type ClusterRole = Stored<V1ClusterRole>;
export type PolicyRule = Wire<V1PolicyRule>;
export type Endpoints = Stored<V1Endpoints>;
export type ResourceQuota = Stored<V1ResourceQuota>;
export type ScopeRequirement = Wire<V1ScopedResourceSelectorRequirement>;
export type ResourceClaim = Stored<ResourceV1ResourceClaim>;
export type DeviceClass = Stored<V1DeviceClass>;
export type PersistentVolumeClaim = Stored<V1PersistentVolumeClaim>;
export type ReplicationController = Stored<V1ReplicationController>;
export type Deployment = Stored<V1Deployment>;
export type ReplicaSet = Stored<V1ReplicaSet>;
export type StatefulSet = Stored<V1StatefulSet>;
export type DaemonSet = Stored<V1DaemonSet>;
export type ControllerRevision = Omit<Stored<V1ControllerRevision>, 'data'> & {
  /** What is revised; any JSON. */
  readonly data?: unknown;
};
export type Job = Stored<V1Job>;
export type CronJob = Stored<V1CronJob>;
export type HorizontalPodAutoscaler = Stored<V2HorizontalPodAutoscaler>;
export type PodDisruptionBudget = Stored<V1PodDisruptionBudget>;
export type EndpointSlice = Stored<V1EndpointSlice>;
export type Lease = Stored<V1Lease>;
export type Event = Stored<CoreV1Event>;

/** `PartialObjectMetadata` of meta.k8s.io/v1: an object without spec and status. */
export type PartialObjectMetadata = KubeObject;
