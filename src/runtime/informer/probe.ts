/** Asks the server for the current version of a resource at the price of one key read. */
import { ApiError } from '../../api/errors.ts';
import type { Resource } from '../../api/resource.ts';
import type { KubeClient } from '../../kube/types.ts';
import { PROBE_TIMEOUT_MS } from '../limits.ts';

/** A name that validation can never admit as a stored object's. */
const IMPOSSIBLE_NAME = 'holdfast-probe-of-no-object..';
const PROBE_SECONDS = 5;

/**
 * The version a consistent read of `resource` would have now. Uses a watch-list of a name that can't
 * exist; servers without watch-list answer a LIST of one object instead. Throws ApiError or
 * TransportError.
 */
export async function probeVersion(
  client: KubeClient,
  resource: Resource,
  signal: AbortSignal,
): Promise<string> {
  try {
    const version = await probeByWatchList(client, resource, signal);
    if (version !== '') return version;
  } catch (error) {
    if (!(error instanceof ApiError) || ![400, 405, 422, 500].includes(error.code)) throw error;
  }
  const page = await client.list(resource, {
    limit: 1,
    metadataOnly: true,
    timeoutMs: PROBE_TIMEOUT_MS,
    signal,
  });
  return page.resourceVersion;
}

async function probeByWatchList(
  client: KubeClient,
  resource: Resource,
  signal: AbortSignal,
): Promise<string> {
  const stream = client.watch(resource, {
    sendInitialEvents: true,
    fieldSelector: `metadata.name=${IMPOSSIBLE_NAME}`,
    timeoutSeconds: PROBE_SECONDS,
    metadataOnly: true,
    signal,
  });
  try {
    for await (const events of stream) {
      for (const event of events) {
        if (event.type === 'BOOKMARK' && event.initialEventsEnd) return event.resourceVersion;
      }
    }
  } finally {
    stream.close();
  }
  return '';
}
