/** Events about pods that are evicted; as upstream's they name no UID. */

import { splitKey } from '../../api/meta.ts';
import { PODS } from '../../api/resource.ts';
import type { EventRecorder } from '../../runtime/controller.ts';

const REASON = 'TaintManagerEviction';

/** The pod will be deleted now. */
export function marked(events: EventRecorder, key: string): void {
  tell(events, key, `Marking for deletion Pod ${key}`);
}

/** A deletion that waited for its time will not happen. */
export function cancelled(events: EventRecorder, key: string): void {
  tell(events, key, `Cancelling deletion of Pod ${key}`);
}

function tell(events: EventRecorder, key: string, message: string): void {
  const about = { apiVersion: PODS.version, kind: PODS.kind, ...splitKey(key) };
  events.event(about, 'Normal', REASON, message);
}
