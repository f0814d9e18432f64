/** Which resource a word of a person means: an id, a plural, a kind, or a short name of kubectl's. */
import * as resources from '../../api/resource.ts';
import { type Resource, resourceId } from '../../api/resource.ts';
import { pluralsOf } from '../../runtime/subjects.ts';

/** The short names that a kube-apiserver 1.36 gives its own resources, by resource id. */
const SHORT_NAMES: Readonly<Record<string, string>> = {
  'certificatesigningrequests.certificates.k8s.io': 'csr',
  configmaps: 'cm',
  'cronjobs.batch': 'cj',
  'customresourcedefinitions.apiextensions.k8s.io': 'crd',
  'daemonsets.apps': 'ds',
  'deployments.apps': 'deploy',
  endpoints: 'ep',
  'horizontalpodautoscalers.autoscaling': 'hpa',
  'ingresses.networking.k8s.io': 'ing',
  'ipaddresses.networking.k8s.io': 'ip',
  limitranges: 'limits',
  namespaces: 'ns',
  'networkpolicies.networking.k8s.io': 'netpol',
  nodes: 'no',
  persistentvolumeclaims: 'pvc',
  persistentvolumes: 'pv',
  'poddisruptionbudgets.policy': 'pdb',
  pods: 'po',
  'priorityclasses.scheduling.k8s.io': 'pc',
  'replicasets.apps': 'rs',
  replicationcontrollers: 'rc',
  resourcequotas: 'quota',
  serviceaccounts: 'sa',
  services: 'svc',
  'statefulsets.apps': 'sts',
  'storageclasses.storage.k8s.io': 'sc',
  'volumeattributesclasses.storage.k8s.io': 'vac',
};

const NAMESPACED: ReadonlyMap<string, boolean> = new Map(
  Object.values(resources)
    .filter((each): each is Resource => typeof each === 'object' && 'plural' in each)
    .map((each) => [resourceId(each), each.namespaced]),
);

/**
 * Resource ids out of `known` that a word may mean, in any case: an id ("deployments.apps"), a plural
 * or a kind, both also with the group ("deployment.apps"), or a short name ("deploy"). A resource
 * that is really called like a short name goes before it.
 */
export function resolveResource(known: readonly string[], word: string): string[] {
  const asked = word.toLowerCase();
  if (known.includes(asked)) return [asked];
  const [name = '', group] = splitId(asked);
  const named = (id: string) => pluralsOf(name).includes(splitId(id)[0]);
  const short = (id: string) => shortNameOf(id) === name;
  const inGroup = known.filter((id) => group === undefined || splitId(id)[1] === group);
  const byName = inGroup.filter(named);
  return byName.length > 0 ? byName : inGroup.filter(short);
}

/** Name and group of an id; no group without a dot. */
function splitId(id: string): readonly [name: string, group: string | undefined] {
  const dot = id.indexOf('.');
  return dot < 0 ? [id, undefined] : [id.slice(0, dot), id.slice(dot + 1)];
}

/** The short name of a resource, e.g. "deploy"; undefined where it has none that is known here. */
export function shortNameOf(id: string): string | undefined {
  return Object.hasOwn(SHORT_NAMES, id) ? SHORT_NAMES[id] : undefined;
}

/** The built-in resource that a word names although it may not be cached; undefined if none. */
export function builtInNamed(word: string): string | undefined {
  const all = [...new Set([...Object.keys(SHORT_NAMES), ...NAMESPACED.keys()])];
  const ids = resolveResource(all, word);
  return ids.length === 1 ? ids[0] : undefined;
}

/** Whether objects of a resource have a namespace; undefined where that is not known here. */
export function isNamespaced(id: string): boolean | undefined {
  return NAMESPACED.get(id);
}
