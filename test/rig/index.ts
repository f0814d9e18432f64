/** The test rig: a real Kubernetes control plane, nodes, managers and faults for tests. */
export { METRICS_CLUSTER } from './aggregation.ts';
export { Api, ApiFailure, type Json, type Obj, type WatchEvent } from './api.ts';
export type { AuditEntry, AuditFilter } from './audit.ts';
export {
  type Binary,
  binariesFolder,
  binary,
  EMULATED_VERSION,
  REPOSITORY,
  RIG_FOLDER,
  SERVER_VERSION,
} from './binaries.ts';
export { Authority, type Pair } from './certs.ts';
export { Child, type Exit, type Usage } from './child.ts';
export { Cluster, type ClusterOptions, startCluster } from './cluster.ts';
export { always, atRest, type EventuallyOptions, eventually, notYet } from './eventually.ts';
export { type Fault, FaultProxy, type FaultRule } from './fault-proxy.ts';
export type { ClusterFiles } from './identities.ts';
export { HoldfastManager, type HoldfastOptions, Manager, type ManagerOptions } from './manager.ts';
export { MetricsApi } from './metrics-api.ts';
export { startMetricsServer } from './metrics-server.ts';
export { NodeSimulator, type NodesOptions, simulateNodes } from './nodes.ts';
export { simulateNodesApart } from './nodes-apart.ts';
export type { PodPlan } from './pod-plan.ts';
export { mapBounded } from './pool.ts';
export { freePort } from './ports.ts';
export { TcpProxy, type Traffic } from './proxy.ts';
export { type RigResource, registerResource } from './resources.ts';
export { sharedCluster } from './shared.ts';
