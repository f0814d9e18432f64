/** What tells ReplicaSets and ReplicationControllers apart for the engine that runs both. */
import type { Resource } from '../../../api/resource.ts';
import type {
  KubeObject,
  LabelSelector,
  PodTemplateSpec,
  ReplicaSetStatus,
} from '../../../api/types/index.ts';

/** What the engine reads of a ReplicaSet, or of what is seen as one. */
export interface ReplicaView extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly minReadySeconds?: number;
    /** Absent: it matches nothing. */
    readonly selector?: LabelSelector;
    readonly template?: PodTemplateSpec;
  };
  readonly status?: ReplicaSetStatus;
}

/** One kind of replica controller. */
export interface ReplicaKind<T extends KubeObject> {
  readonly resource: Resource;
  readonly queue: string;
  /** Event component. */
  readonly component: string;
  /** Flag with the number of workers. */
  readonly workersFlag: string;
  /** True if its status has terminatingReplicas (behind a feature gate). */
  readonly terminatingReplicas: boolean;
  /** True if pods of siblings on the same node count when pods are chosen for deletion. */
  readonly countsSiblings: boolean;
  /** Feature gate of the read-your-writes guard; absent: this kind has none. */
  readonly guardGate?: string;
  /** The object seen as a ReplicaSet: selector and template in its form, status field by field. */
  view(object: T): ReplicaView;
}
