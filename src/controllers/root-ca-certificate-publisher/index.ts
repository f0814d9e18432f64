/**
 * root-ca-certificate-publisher-controller: every namespace has a ConfigMap kube-root-ca.crt with
 * the bundle by which pods verify the API server.
 */
import { isNamespaceTerminating, isNotFound } from '../../api/errors.ts';
import { keyOf } from '../../api/meta.ts';
import { CONFIG_MAPS, NAMESPACES } from '../../api/resource.ts';
import type { ConfigMap, Namespace } from '../../api/types/index.ts';
import type {
  Controller,
  ControllerContext,
  ControllerDefinition,
  SyncRun,
  WorkQueue,
} from '../../runtime/controller.ts';
import type { Handler, Lister, ObjectRecord } from '../../runtime/informer/types.ts';
import { wasCutOff } from '../_kit/cut-off.ts';
import { CONFIG_MAP_NAME, decide, type Publication } from './decide.ts';
import { syncMeter } from './metrics.ts';

/** The passport of the root CA publisher. */
export const rootCaCertificatePublisherController: ControllerDefinition = {
  name: 'root-ca-certificate-publisher-controller',
  aliases: ['root-ca-cert-publisher'],
  gates: [],
  enabledByDefault: true,
  account: 'root-ca-cert-publisher',
  watches: [CONFIG_MAPS, NAMESPACES],
  writes: ['configmaps create/update'],
  flags: ['root-ca-file'],
  build,
};

/** Keys are names of namespaces. */
function build(context: ControllerContext): Controller {
  const { clock, rootCaPem } = context;
  const configMaps = context.informers.of<ConfigMap>(CONFIG_MAPS);
  const namespaces = context.informers.of<Namespace>(NAMESPACES);
  const queue = context.queue('root_ca_cert_publisher');
  const meter = syncMeter(context.metrics);
  configMaps.addHandler(ofConfigMaps(queue));
  namespaces.addHandler(ofNamespaces(queue, namespaces.lister));
  const sync = async (namespace: string, run: SyncRun): Promise<void> => {
    const configMap = configMaps.lister.get(keyOf({ namespace, name: CONFIG_MAP_NAME }));
    const publication = decide({ namespace, configMap }, rootCaPem);
    if (publication !== undefined) await publish(run, namespace, publication);
  };
  const reconcile = async (key: string, run: SyncRun): Promise<void> => {
    const startedAt = clock.monotonic();
    try {
      await sync(key, run);
      meter(clock.monotonic() - startedAt, undefined);
    } catch (error) {
      if (!wasCutOff(run, error)) meter(clock.monotonic() - startedAt, error);
      throw error;
    }
  };
  return { queues: [{ queue, workers: 1, reconcile }] };
}

function ofConfigMaps(queue: WorkQueue): Handler<ObjectRecord> {
  const changed = ({ name, namespace }: ObjectRecord): void => {
    if (name === CONFIG_MAP_NAME) queue.add(namespace);
  };
  return { update: changed, delete: changed };
}

/** A change of a namespace counts only while it is Active (or if the disk can't tell). */
function ofNamespaces(queue: WorkQueue, namespaces: Lister<Namespace>): Handler<ObjectRecord> {
  const isActive = (key: string): boolean => {
    try {
      return namespaces.get(key)?.status?.phase === 'Active';
    } catch {
      return true;
    }
  };
  return {
    add: ({ name }) => queue.add(name),
    update: ({ name, key }) => {
      if (isActive(key)) queue.add(name);
    },
  };
}

/** Creating in a namespace that is gone or on its way out is not tried again. */
async function publish(run: SyncRun, namespace: string, due: Publication): Promise<void> {
  const { verb, body, because } = due;
  if (verb === 'update') {
    const at = { namespace, name: CONFIG_MAP_NAME };
    await run.client.update(CONFIG_MAPS, at, body, { because, metadataOnly: true });
    return;
  }
  try {
    await run.client.create(CONFIG_MAPS, { namespace }, body, { because, metadataOnly: true });
  } catch (error) {
    if (!isNotFound(error) && !isNamespaceTerminating(error)) throw error;
    run.note(`namespace ${namespace} takes no ConfigMap any more`);
  }
}
