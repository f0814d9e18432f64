/**
 * serviceaccount-controller: every active namespace has a ServiceAccount "default"; deleting it
 * brings it back at once.
 */
import { isAlreadyExists, isNamespaceTerminating } from '../../api/errors.ts';
import { keyOf } from '../../api/meta.ts';
import { apiVersionOf, NAMESPACES, SERVICE_ACCOUNTS } from '../../api/resource.ts';
import type { Namespace, ServiceAccount } from '../../api/types/index.ts';
import type {
  Controller,
  ControllerContext,
  ControllerDefinition,
  SyncRun,
} from '../../runtime/controller.ts';
import { type Creation, decide } from './decide.ts';

/** The passport of the service account controller. */
export const serviceAccountController: ControllerDefinition = {
  name: 'serviceaccount-controller',
  aliases: ['serviceaccount'],
  gates: [],
  enabledByDefault: true,
  account: 'service-account-controller',
  watches: [SERVICE_ACCOUNTS, NAMESPACES],
  writes: ['serviceaccounts create'],
  flags: [],
  build,
};

/** Keys are names of namespaces. */
function build(context: ControllerContext): Controller {
  const accounts = context.informers.of<ServiceAccount>(SERVICE_ACCOUNTS);
  const namespaces = context.informers.of<Namespace>(NAMESPACES);
  const queue = context.queue('serviceaccount');
  accounts.addHandler({ delete: ({ namespace }) => queue.add(namespace) });
  namespaces.addHandler({
    add: ({ name }) => queue.add(name),
    update: ({ name }) => queue.add(name),
  });
  const observe = (key: string) => ({
    namespace: namespaces.lister.get(key),
    has: (name: string) => accounts.lister.record(keyOf({ namespace: key, name })) !== undefined,
  });
  return {
    queues: [
      {
        queue,
        workers: 1,
        reconcile: async (key, run) => {
          for (const creation of decide(observe(key))) await create(run, key, creation);
        },
      },
    ],
  };
}

/** One that is there by now is fine, and so is a namespace that is going away. */
async function create(run: SyncRun, namespace: string, { name, because }: Creation): Promise<void> {
  const body = {
    apiVersion: apiVersionOf(SERVICE_ACCOUNTS),
    kind: SERVICE_ACCOUNTS.kind,
    metadata: { name, namespace },
  };
  try {
    await run.client.create(SERVICE_ACCOUNTS, { namespace }, body, { because, metadataOnly: true });
  } catch (error) {
    if (!isAlreadyExists(error) && !isNamespaceTerminating(error)) throw error;
    run.note(`ServiceAccount ${name} not created: ${error instanceof Error ? error.message : ''}`);
  }
}
