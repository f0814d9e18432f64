/** The events of the node lifecycle controller, one function a reason. */
import { NODES, PODS } from '../../api/resource.ts';
import type { EventRecorder } from '../../runtime/controller.ts';

/** Whom an event is about. */
export interface NodeName {
  readonly name: string;
  readonly uid: string;
}

const COMPONENT = 'node-controller';

/** The component that upstream's events carry. */
export const EVENT_COMPONENT = COMPONENT;

/** A node was seen for the first time. */
export function registered(events: EventRecorder, node: NodeName): void {
  const what = `Registered Node ${node.name} in Controller`;
  tell(events, node, 'RegisteredNode', `Node ${node.name} event: ${what}`);
}

/** A node is gone. */
export function removing(events: EventRecorder, node: NodeName): void {
  const what = `Removing Node ${node.name} from Controller`;
  tell(events, node, 'RemovingNode', `Node ${node.name} event: ${what}`);
}

/** Nothing was heard of a node that was ready. */
export function notReady(events: EventRecorder, node: NodeName): void {
  tell(events, node, 'NodeNotReady', `Node ${node.name} status is now: NodeNotReady`);
}

/** A pod is on such a node. */
export function podNotReady(
  events: EventRecorder,
  {
    namespace,
    name,
    uid,
    resourceVersion,
  }: NodeName & {
    readonly namespace: string;
    readonly resourceVersion: string;
  },
): void {
  const about = {
    apiVersion: PODS.version,
    kind: PODS.kind,
    namespace,
    name,
    uid,
    resourceVersion,
  };
  events.event(about, 'Warning', 'NodeNotReady', 'Node is not ready');
}

function tell(events: EventRecorder, { name, uid }: NodeName, reason: string, text: string): void {
  events.event({ apiVersion: NODES.version, kind: NODES.kind, name, uid }, 'Normal', reason, text);
}
