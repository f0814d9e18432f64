/** Builders of the core group: pods, nodes, services and the objects around them. */
import type {
  V1ConfigMap,
  V1Namespace,
  V1Node,
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1Pod,
  V1PodTemplateSpec,
  V1ReplicationController,
  V1ResourceQuota,
  V1Secret,
  V1Service,
  V1ServiceAccount,
} from '@kubernetes/client-node';
import type { Wire } from '../../src/api/types/index.ts';
import { type DeepPartial, merge, place } from './merge.ts';

type Over<T> = DeepPartial<Wire<T>>;

/** Labels that a workload's selector and template share: { app: NAME }. */
export function appLabels(id: string): { readonly app: string } {
  return { app: place(id).name };
}

/** A pod template with one container named like the workload. */
export function template(id: string): Wire<V1PodTemplateSpec> {
  const { name } = place(id);
  return {
    metadata: { labels: appLabels(id) },
    spec: { containers: [{ name, image: `${name}:1` }] },
  };
}

/** A pod with one container. */
export function pod(id: string, over: Over<V1Pod> = {}): Wire<V1Pod> {
  const { metadata, spec } = template(id);
  const base = { apiVersion: 'v1', kind: 'Pod', metadata: { ...place(id), ...metadata }, spec };
  return merge<Wire<V1Pod>>(base, over);
}

/** A pod that runs on a node and is ready since `since`. */
export function readyPod(id: string, node: string, over: Over<V1Pod> = {}, since = START) {
  const condition = (type: string) => ({ type, status: 'True', lastTransitionTime: since });
  const running: Over<V1Pod> = {
    spec: { nodeName: node },
    status: {
      phase: 'Running',
      startTime: since,
      conditions: ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map(condition),
    },
  };
  return merge(pod(id, running), over);
}

/** The moment at which stored objects begin unless they say otherwise. */
export const START = '2026-01-01T00:00:00Z';

/** A ready node with 8 CPUs, 32 GiB and room for 110 pods. */
export function node(name: string, over: Over<V1Node> = {}): Wire<V1Node> {
  const resources = { cpu: '8', memory: '32Gi', pods: '110' };
  const times = { lastHeartbeatTime: START, lastTransitionTime: START };
  const base: Wire<V1Node> = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux' } },
    spec: {},
    status: {
      capacity: resources,
      allocatable: resources,
      conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady', ...times }],
    },
  };
  return merge(base, over);
}

/** A namespace. */
export function namespace(name: string, over: Over<V1Namespace> = {}): Wire<V1Namespace> {
  return merge<Wire<V1Namespace>>(
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
    over,
  );
}

/** A service account. */
export function serviceAccount(id: string, over: Over<V1ServiceAccount> = {}) {
  const base = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: place(id) };
  return merge<Wire<V1ServiceAccount>>(base, over);
}

/** A service that selects { app: NAME } on port 80. */
export function service(id: string, over: Over<V1Service> = {}): Wire<V1Service> {
  const spec = { selector: appLabels(id), ports: [{ port: 80, protocol: 'TCP' }] };
  const base = { apiVersion: 'v1', kind: 'Service', metadata: place(id), spec };
  return merge<Wire<V1Service>>(base, over);
}

/** An empty config map. */
export function configMap(id: string, over: Over<V1ConfigMap> = {}): Wire<V1ConfigMap> {
  const base = { apiVersion: 'v1', kind: 'ConfigMap', metadata: place(id), data: {} };
  return merge<Wire<V1ConfigMap>>(base, over);
}

/** An empty secret of type Opaque. */
export function secret(id: string, over: Over<V1Secret> = {}): Wire<V1Secret> {
  const base = { apiVersion: 'v1', kind: 'Secret', metadata: place(id), type: 'Opaque' };
  return merge<Wire<V1Secret>>(base, over);
}

/** A replication controller of one pod. */
export function replicationController(id: string, over: Over<V1ReplicationController> = {}) {
  const spec = { replicas: 1, selector: appLabels(id), template: template(id) };
  const base = { apiVersion: 'v1', kind: 'ReplicationController', metadata: place(id), spec };
  return merge<Wire<V1ReplicationController>>(base, over);
}

/** A claim of 1 GiB, ReadWriteOnce, without a class. */
export function persistentVolumeClaim(id: string, over: Over<V1PersistentVolumeClaim> = {}) {
  const spec = {
    accessModes: ['ReadWriteOnce'],
    storageClassName: '',
    resources: { requests: { storage: '1Gi' } },
  };
  const base = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: place(id), spec };
  return merge<Wire<V1PersistentVolumeClaim>>(base, over);
}

/** A host-path volume of 1 GiB, ReadWriteOnce, without a class, to be retained. */
export function persistentVolume(name: string, over: Over<V1PersistentVolume> = {}) {
  const spec = {
    accessModes: ['ReadWriteOnce'],
    capacity: { storage: '1Gi' },
    hostPath: { path: `/srv/${name}` },
    persistentVolumeReclaimPolicy: 'Retain',
  };
  const base = { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name }, spec };
  return merge<Wire<V1PersistentVolume>>(base, over);
}

/** A quota of 10 pods. */
export function resourceQuota(id: string, over: Over<V1ResourceQuota> = {}): Wire<V1ResourceQuota> {
  const spec = { hard: { pods: '10' } };
  const base = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: place(id), spec };
  return merge<Wire<V1ResourceQuota>>(base, over);
}
