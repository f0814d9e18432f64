/** The objects a simulated kubelet registers: its Node and its Lease. */
import type { Obj } from './api.ts';
import { KUBELET_ADDRESS } from './kubelet.ts';
import { timestamp } from './pod-plan.ts';

export interface NodeShape {
  readonly name: string;
  readonly hostIP: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Quantities by resource name, used for capacity and allocatable. */
  readonly resources: Readonly<Record<string, string>>;
  readonly kubeletVersion: string;
  /** Of the kubelet's HTTPS endpoint, if it has one. */
  readonly kubeletPort?: number;
}

/** Status of the Ready condition. */
export type Readiness = 'True' | 'False' | 'Unknown';

const READY_REASON: Readonly<Record<Readiness, string>> = {
  True: 'KubeletReady',
  False: 'KubeletNotReady',
  Unknown: 'NodeStatusUnknown',
};

/** The five conditions a kubelet posts; a transition time is kept where the status stays. */
export function nodeConditions(ready: Readiness, before: readonly Obj['status'][] = []) {
  const now = timestamp();
  const row = (type: string, status: string, reason: string) => {
    const old = before.find((one) => one.type === type);
    const kept = old?.status === status ? old.lastTransitionTime : now;
    return {
      type,
      status,
      reason,
      lastHeartbeatTime: now,
      lastTransitionTime: kept,
      message: reason,
    };
  };
  return [
    row('MemoryPressure', 'False', 'KubeletHasSufficientMemory'),
    row('DiskPressure', 'False', 'KubeletHasNoDiskPressure'),
    row('PIDPressure', 'False', 'KubeletHasSufficientPID'),
    row('Ready', ready, READY_REASON[ready]),
  ];
}

/** Where a node and its kubelet are: part of the node's status. */
export function kubeletEndpoint({ name, hostIP, kubeletPort }: NodeShape): object {
  const addresses = [
    { type: 'InternalIP', address: hostIP },
    { type: 'Hostname', address: name },
  ];
  if (kubeletPort === undefined) return { addresses };
  return {
    addresses: [...addresses, { type: 'ExternalIP', address: KUBELET_ADDRESS }],
    daemonEndpoints: { kubeletEndpoint: { Port: kubeletPort } },
  };
}

/** The Node as it is registered, status included. */
export function nodeObject(shape: NodeShape, ready: Readiness) {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: shape.name,
      labels: {
        'kubernetes.io/hostname': shape.name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        ...shape.labels,
      },
    },
    spec: {},
    status: {
      capacity: shape.resources,
      allocatable: shape.resources,
      conditions: nodeConditions(ready),
      ...kubeletEndpoint(shape),
      nodeInfo: {
        architecture: 'amd64',
        operatingSystem: 'linux',
        kubeletVersion: shape.kubeletVersion,
        kubeProxyVersion: '',
        containerRuntimeVersion: 'sim://1',
        kernelVersion: '6.1.0',
        osImage: 'simulated',
        machineID: shape.name,
        systemUUID: shape.name,
        bootID: shape.name,
      },
    },
  };
}

/** The Lease a kubelet renews; owned by its node as a kubelet's is. */
export function nodeLease(name: string, nodeUid: string, resourceVersion?: string) {
  const owner = { apiVersion: 'v1', kind: 'Node', name, uid: nodeUid };
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: 'kube-node-lease', ownerReferences: [owner], resourceVersion },
    spec: {
      holderIdentity: name,
      leaseDurationSeconds: 40,
      renewTime: new Date().toISOString().replace('Z', '000Z'),
    },
  };
}
