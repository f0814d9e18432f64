/** Every controller, one import and one line each, by name. */
import type { ControllerDefinition } from '../runtime/controller.ts';
import { daemonSetController } from './daemonset/index.ts';
import { deploymentController } from './deployment/index.ts';
import { namespaceController } from './namespace/index.ts';
import { replicaSetController } from './replicaset/index.ts';
import { replicationControllerController } from './replicationcontroller/index.ts';
import { rootCaCertificatePublisherController } from './root-ca-certificate-publisher/index.ts';
import { serviceAccountController } from './serviceaccount/index.ts';
import { statefulSetController } from './statefulset/index.ts';

/** What this program can run. Names, aliases and queues of different controllers never clash. */
export const CONTROLLERS: readonly ControllerDefinition[] = [
  daemonSetController,
  deploymentController,
  namespaceController,
  replicaSetController,
  replicationControllerController,
  rootCaCertificatePublisherController,
  serviceAccountController,
  statefulSetController,
];
