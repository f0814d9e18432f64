/** APIs that do not answer: a custom resource that nobody can convert, and an aggregated API. */
import { type Cluster, type Obj, registerResource } from '../rig/index.ts';
import { customResource } from '../scenarios/garbage.ts';
import type { Fields } from '../scenarios/world.ts';

const GROUP = 'example.com';
const CRD = 'relics.example.com';
const ABSENT = 'v1.absent.example.com';
/** Nothing listens there. */
const DEAD_WEBHOOK = 'https://127.0.0.1:1/convert';

/** An object of the custom resource, in the version that it is stored in. */
export function relic(name: string, metadata: Fields = {}): Fields {
  return { apiVersion: `${GROUP}/v1`, kind: 'Relic', metadata: { name, ...metadata } };
}

/**
 * Relics are stored as v1 and preferred as v2, and the webhook between them is dead, so that none
 * can be listed. The group absent.example.com is served by a Service that isn't there.
 */
export async function breakApis({ api }: Cluster): Promise<void> {
  const crd = customResource('relics', 'Relic');
  const [v1] = (crd.spec as Obj).versions;
  const versions = [v1, { ...v1, name: 'v2', storage: false }];
  registerResource({
    apiVersion: `${GROUP}/v1`,
    kind: 'Relic',
    plural: 'relics',
    namespaced: true,
  });
  const webhook = { clientConfig: { url: DEAD_WEBHOOK }, conversionReviewVersions: ['v1'] };
  const conversion = { strategy: 'Webhook', webhook };
  await api.create({ ...crd, spec: { ...(crd.spec as Fields), versions, conversion } } as Obj);
  await api.create({
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: ABSENT },
    spec: {
      group: 'absent.example.com',
      version: 'v1',
      service: { namespace: 'default', name: 'absent' },
      insecureSkipTLSVerify: true,
      groupPriorityMinimum: 100,
      versionPriority: 100,
    },
  } as Obj);
  const is = (type: string, status: string) => (object: Obj) =>
    (object.status?.conditions ?? []).some((c: Fields) => c.type === type && c.status === status);
  await api.waitFor('customresourcedefinitions', '', CRD, is('Established', 'True'));
  await api.waitFor('apiservices', '', ABSENT, is('Available', 'False'));
}

/** Relics need no webhook any more, and the aggregated API is given up. */
export async function mendApis({ api }: Cluster): Promise<void> {
  const conversion = { strategy: 'None', webhook: null };
  await api.patch('customresourcedefinitions', '', CRD, { spec: { conversion } });
  await api.remove('apiservices', '', ABSENT);
}
