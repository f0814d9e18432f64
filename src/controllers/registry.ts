/** Every controller, one import and one line each, by name. */
import type { ControllerDefinition } from '../runtime/controller.ts';
import { clusterRoleAggregationController } from './clusterrole-aggregation/index.ts';
import { cronJobController } from './cronjob/index.ts';
import { daemonSetController } from './daemonset/index.ts';
import { deploymentController } from './deployment/index.ts';
import { disruptionController } from './disruption/index.ts';
import { endpointsController } from './endpoints/index.ts';
import { endpointSliceController } from './endpointslice/index.ts';
import { endpointSliceMirroringController } from './endpointslice-mirroring/index.ts';
import { garbageCollectorController } from './garbage-collector/index.ts';
import { horizontalPodAutoscalerController } from './horizontal-pod-autoscaler/index.ts';
import { jobController } from './job/index.ts';
import { legacyServiceAccountTokenCleanerController } from './legacy-serviceaccount-token-cleaner/index.ts';
import { namespaceController } from './namespace/index.ts';
import { nodeLifecycleController } from './node-lifecycle/index.ts';
import { podGarbageCollectorController } from './pod-garbage-collector/index.ts';
import { replicaSetController } from './replicaset/index.ts';
import { replicationControllerController } from './replicationcontroller/index.ts';
import { resourceQuotaController } from './resourcequota/index.ts';
import { rootCaCertificatePublisherController } from './root-ca-certificate-publisher/index.ts';
import { serviceAccountController } from './serviceaccount/index.ts';
import { serviceAccountTokenController } from './serviceaccount-token/index.ts';
import { statefulSetController } from './statefulset/index.ts';
import { taintEvictionController } from './taint-eviction/index.ts';
import { ttlController } from './ttl/index.ts';
import { ttlAfterFinishedController } from './ttl-after-finished/index.ts';

/** What this program can run. Names, aliases and queues of different controllers never clash. */
export const CONTROLLERS: readonly ControllerDefinition[] = [
  clusterRoleAggregationController,
  cronJobController,
  daemonSetController,
  deploymentController,
  disruptionController,
  endpointsController,
  endpointSliceController,
  endpointSliceMirroringController,
  garbageCollectorController,
  horizontalPodAutoscalerController,
  jobController,
  legacyServiceAccountTokenCleanerController,
  namespaceController,
  nodeLifecycleController,
  podGarbageCollectorController,
  replicaSetController,
  replicationControllerController,
  resourceQuotaController,
  rootCaCertificatePublisherController,
  serviceAccountController,
  serviceAccountTokenController,
  statefulSetController,
  taintEvictionController,
  ttlAfterFinishedController,
  ttlController,
];
