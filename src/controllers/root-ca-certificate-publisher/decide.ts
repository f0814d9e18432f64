/** What the ConfigMap with the cluster's CA must look like, and whether it does. */
import { apiVersionOf, CONFIG_MAPS } from '../../api/resource.ts';
import type { ConfigMap } from '../../api/types/index.ts';

/** Name of the ConfigMap that every namespace has. */
export const CONFIG_MAP_NAME = 'kube-root-ca.crt';

const CA_KEY = 'ca.crt';
const DESCRIPTION_ANNOTATION = 'kubernetes.io/description';
const DESCRIPTION =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal ' +
  'endpoints such as the internal service IP or kubernetes.default.svc. No other usage is ' +
  'guaranteed across distributions of Kubernetes clusters.';

/** What a decision looks at. */
export interface Observed {
  readonly namespace: string;
  /** Undefined if the namespace has none. */
  readonly configMap: ConfigMap | undefined;
}

export interface Publication {
  readonly verb: 'create' | 'update';
  readonly body: object;
  readonly because: string;
}

/**
 * The write that is due, if any. It is right with exactly the one key and any text as description;
 * other annotations, labels and fields are left as they are.
 */
export function decide(observed: Observed, rootCaPem: string): Publication | undefined {
  const { namespace, configMap } = observed;
  const type = { apiVersion: apiVersionOf(CONFIG_MAPS), kind: CONFIG_MAPS.kind };
  const data = { [CA_KEY]: rootCaPem };
  const description = { [DESCRIPTION_ANNOTATION]: DESCRIPTION };
  if (configMap === undefined) {
    const metadata = { name: CONFIG_MAP_NAME, namespace, annotations: description };
    const because = `namespace ${namespace} has no ConfigMap ${CONFIG_MAP_NAME}`;
    return { verb: 'create', body: { ...type, metadata, data }, because };
  }
  const wrong = whatIsWrong(configMap, rootCaPem);
  if (wrong === undefined) return undefined;
  const annotations = { ...configMap.metadata.annotations, ...description };
  const metadata = { ...configMap.metadata, annotations };
  const because = `ConfigMap ${CONFIG_MAP_NAME}: ${wrong}`;
  return { verb: 'update', body: { ...configMap, ...type, metadata, data }, because };
}

function whatIsWrong({ data = {}, metadata }: ConfigMap, rootCaPem: string): string | undefined {
  const others = Object.keys(data).filter((key) => key !== CA_KEY);
  if (others.length > 0) return `has ${others.length} keys besides ${CA_KEY}`;
  if (data[CA_KEY] !== rootCaPem) return `${CA_KEY} is not the cluster's CA bundle`;
  if (!metadata.annotations?.[DESCRIPTION_ANNOTATION]) return 'has no description';
  return undefined;
}
