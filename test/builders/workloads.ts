/** Builders of workloads and what goes with them. */
import type {
  V1CronJob,
  V1DaemonSet,
  V1Deployment,
  V1EndpointSlice,
  V1Job,
  V1Lease,
  V1PodDisruptionBudget,
  V1ReplicaSet,
  V1StatefulSet,
  V2HorizontalPodAutoscaler,
} from '@kubernetes/client-node';
import type { Wire } from '../../src/api/types/index.ts';
import { appLabels, template } from './core.ts';
import { type DeepPartial, merge, place } from './merge.ts';

type Over<T> = DeepPartial<Wire<T>>;

function selected(id: string) {
  return { selector: { matchLabels: appLabels(id) }, template: template(id) };
}

/** A deployment of one pod. */
export function deployment(id: string, over: Over<V1Deployment> = {}): Wire<V1Deployment> {
  const spec = { replicas: 1, ...selected(id) };
  const base = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: place(id), spec };
  return merge<Wire<V1Deployment>>(base, over);
}

/** A replica set of one pod. */
export function replicaSet(id: string, over: Over<V1ReplicaSet> = {}): Wire<V1ReplicaSet> {
  const spec = { replicas: 1, ...selected(id) };
  const base = { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: place(id), spec };
  return merge<Wire<V1ReplicaSet>>(base, over);
}

/** A stateful set of one pod with a service of its name. */
export function statefulSet(id: string, over: Over<V1StatefulSet> = {}): Wire<V1StatefulSet> {
  const spec = { replicas: 1, serviceName: place(id).name, ...selected(id) };
  const base = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: place(id), spec };
  return merge<Wire<V1StatefulSet>>(base, over);
}

/** A daemon set. */
export function daemonSet(id: string, over: Over<V1DaemonSet> = {}): Wire<V1DaemonSet> {
  const metadata = place(id);
  const base = { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata, spec: selected(id) };
  return merge<Wire<V1DaemonSet>>(base, over);
}

/** A job of one pod that finishes at once on a simulated node. */
export function job(id: string, over: Over<V1Job> = {}): Wire<V1Job> {
  const spec = { template: finishing(id) };
  const base = { apiVersion: 'batch/v1', kind: 'Job', metadata: place(id), spec };
  return merge<Wire<V1Job>>(base, over);
}

function finishing(id: string) {
  return merge(template(id), {
    metadata: { annotations: { 'sim.holdfast.dev/behaviour': 'finish' } },
    spec: { restartPolicy: 'Never' },
  });
}

/** A cron job that makes such jobs every minute. */
export function cronJob(id: string, over: Over<V1CronJob> = {}): Wire<V1CronJob> {
  const spec = { schedule: '* * * * *', jobTemplate: { spec: { template: finishing(id) } } };
  const base = { apiVersion: 'batch/v1', kind: 'CronJob', metadata: place(id), spec };
  return merge<Wire<V1CronJob>>(base, over);
}

/** A budget of at least one pod for { app: NAME }. */
export function podDisruptionBudget(id: string, over: Over<V1PodDisruptionBudget> = {}) {
  const spec = { minAvailable: 1, selector: { matchLabels: appLabels(id) } };
  const base = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: place(id), spec };
  return merge<Wire<V1PodDisruptionBudget>>(base as Wire<V1PodDisruptionBudget>, over);
}

/** An autoscaler of the deployment of the same name: 1 to 10 pods at 50 % CPU. */
export function horizontalPodAutoscaler(id: string, over: Over<V2HorizontalPodAutoscaler> = {}) {
  const target = { type: 'Utilization', averageUtilization: 50 };
  const base: Wire<V2HorizontalPodAutoscaler> = {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: place(id),
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: place(id).name },
      minReplicas: 1,
      maxReplicas: 10,
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target } }],
    },
  };
  return merge(base, over);
}

/** An IPv4 endpoint slice without endpoints, of the service called SERVICE. */
export function endpointSlice(id: string, service: string, over: Over<V1EndpointSlice> = {}) {
  const base: Wire<V1EndpointSlice> = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { ...place(id), labels: { 'kubernetes.io/service-name': service } },
    addressType: 'IPv4',
    endpoints: [],
    ports: [{ port: 80, protocol: 'TCP' }],
  };
  return merge(base, over);
}

/** A lease held by nobody. */
export function lease(id: string, over: Over<V1Lease> = {}): Wire<V1Lease> {
  const metadata = place(id);
  const base = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec: {} };
  return merge<Wire<V1Lease>>(base as Wire<V1Lease>, over);
}
