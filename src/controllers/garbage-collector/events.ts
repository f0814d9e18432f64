/** The one event of the garbage collector. */
import type { ObjectReference } from '../../api/types/index.ts';
import type { EventRecorder } from '../../runtime/controller.ts';
import { identityOf, identityText } from './identity.ts';
import type { Node } from './node.ts';

/** The dependent names an owner that lives in another namespace than its own. */
export function wrongNamespace(events: EventRecorder, dependent: Node, ownerUid: string): void {
  const reference = dependent.owners.find(({ uid }) => uid === ownerUid);
  if (reference === undefined) return;
  const { apiVersion, kind, namespace, name, uid } = dependent.identity;
  const about: ObjectReference = { apiVersion, kind, namespace, name, uid };
  const owner = identityText(identityOf(reference, namespace));
  const message = `ownerRef ${owner} does not exist in namespace ${JSON.stringify(namespace)}`;
  events.event(about, 'Warning', 'OwnerRefInvalidNamespace', message);
}
